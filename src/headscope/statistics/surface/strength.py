"""How much a head gives out in all: by weight 1 a row, by norm the length of what it brings."""

from __future__ import annotations

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Fields, Statistic, ratio
from headscope.statistics.kit.totals import queries, total
from headscope.statistics.registry import statistic


@statistic
class Strength(Statistic):
    """Mean sum of a row: 1 by weight (less with sinks); by norm, how much a head brings."""

    name = "strength"
    fields = ("total", "rows")

    def update(self, block: ScoreBlock) -> None:
        self.add("total", block.site, block.cached(total, self.measure))
        self.add("rows", block.site, queries(block))

    def columns(self, fields: Fields) -> dict[str, Array]:
        return {"strength": ratio(fields["total"], fields["rows"])}
