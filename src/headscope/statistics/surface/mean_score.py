"""How much a head moves on average: the mean score of a pair (kobayashi2020, section 5.2: the average norm of a head)."""

from __future__ import annotations

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Fields, Statistic, ratio
from headscope.statistics.kit.totals import total
from headscope.statistics.kit.visible_pairs import visible
from headscope.statistics.registry import statistic


@statistic
class MeanScore(Statistic):
    """Mean score over all pairs of a query and a key that it sees: by norm, how much a head brings."""

    name = "mean_score"
    usual = False
    levels = ("token",)
    fields = ("total", "pairs")

    def update(self, block: ScoreBlock) -> None:
        self.add("total", block.site, block.cached(total, self.measure))
        self.add("pairs", block.site, float(visible(block, block.rows).sum()))

    def columns(self, fields: Fields) -> dict[str, Array]:
        return {"mean_score": ratio(fields["total"], fields["pairs"]), "pairs": fields["pairs"]}
