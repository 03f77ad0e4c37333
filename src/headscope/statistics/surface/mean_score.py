"""How much a head moves on average: the mean score of a pair (kobayashi2020, section 5.2: the average norm of a head)."""

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Columns, Statistic, Sums, ratio
from headscope.statistics.columns import COUNT, LENGTH, Column
from headscope.statistics.kit.totals import total
from headscope.statistics.kit.visible_pairs import visible
from headscope.statistics.registry import statistic


@statistic("mean_score")
class MeanScore(Statistic):
    """Mean score over all pairs of a query and a key that it sees: by norm, how much a head brings."""

    usual = False
    levels = ("token",)
    sums = ("total", "pairs")
    card_place = 100
    mean_score = Column("Mean of all pairs", LENGTH, "The mean score of a pair of tokens.", "gives more")
    pairs = Column("Pairs", COUNT, "How many pairs were counted.", "was counted more", of_heads=False)

    def update(self, block: ScoreBlock) -> None:
        pairs = float(visible(block, block.rows).sum())
        self.add(block.site, total=block.cached(total, self.measure), pairs=pairs)

    def columns(self, sums: Sums) -> Columns:
        return {"mean_score": ratio(sums["total"], sums["pairs"]), "pairs": sums["pairs"]}
