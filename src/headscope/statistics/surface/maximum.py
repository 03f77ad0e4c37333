"""How much a head commits to one token: the largest score of a row."""

from __future__ import annotations

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Fields, Statistic, ratio
from headscope.statistics.kit.totals import queries
from headscope.statistics.registry import statistic


@statistic
class Maximum(Statistic):
    """Mean of the largest score in a row: 1 for a head that always looks at one token."""

    name = "maximum"
    fields = ("maximum", "rows")

    def update(self, block: ScoreBlock) -> None:
        largest = block.scores(self.measure).amax(-1) * block.row_mask[:, None]
        self.add("maximum", block.site, largest.sum((0, 2)))
        self.add("rows", block.site, queries(block))

    def columns(self, fields: Fields) -> dict[str, Array]:
        return {"maximum": ratio(fields["maximum"], fields["rows"])}
