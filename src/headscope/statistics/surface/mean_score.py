"""How much a head gives to one token: at most (does it commit to one?), and on average (kobayashi2020, section 5.2)."""

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Columns, Statistic, Sums, ratio
from headscope.statistics.columns import COUNT, LENGTH, SHARE, Column
from headscope.statistics.kit.text_means import Averaged
from headscope.statistics.kit.totals import queries, reach, total, visible
from headscope.statistics.registry import statistic


@statistic("maximum")
class Maximum(Averaged):
    """Mean of the largest score in a row: 1 for a head that always looks at one token."""

    sums = ("maximum", "rows")
    per = "rows"
    card_place = 90
    maximum = Column(
        "Strongest link of a token, on average",
        SHARE,
        "The largest score of a row, on average.",
        "is more decided",
        unit_of_norms=LENGTH,
    )

    def update(self, block: ScoreBlock) -> None:
        maximum = (reach(block, self.measure).largest * block.row_mask[:, None]).sum((0, 2))
        self.add(block.site, maximum=maximum, rows=block.cached(queries))


@statistic("mean_score")
class MeanScore(Statistic):
    """Mean score over all pairs of a query and a key that it sees: by norm, how much a head brings."""

    usual = False
    levels = ("token",)
    sums = ("total", "pairs")
    card_place = 100
    mean_score = Column("Mean score of a pair of tokens", LENGTH, "The mean score of a pair of tokens.", "gives more")
    pairs = Column("Pairs that were counted", COUNT, "How many pairs were counted.", "was counted more", of_heads=False)

    def update(self, block: ScoreBlock) -> None:
        pairs = visible(block, block.rows).sum()
        self.add(block.site, total=block.cached(total, self.measure), pairs=pairs)

    def columns(self, sums: Sums) -> Columns:
        return {"mean_score": ratio(sums["total"], sums["pairs"]), "pairs": sums["pairs"]}
