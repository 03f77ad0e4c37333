"""How much a head gives out in all: by weight 1 a row, by norm the length of what it brings."""

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Columns, Sums, ratio
from headscope.statistics.columns import LENGTH, Column
from headscope.statistics.kit.text_means import Averaged
from headscope.statistics.kit.totals import queries, total
from headscope.statistics.registry import statistic


@statistic("strength")
class Strength(Averaged):
    """Mean sum of a row: 1 by weight (less with sinks); by norm, how much a head brings."""

    sums = ("total", "rows")
    card_place = 110
    strength = Column(
        "Strength: the sum of a row", LENGTH, "The sum of a row: by weight 1, by norm what the head adds.", "adds more"
    )

    def update(self, block: ScoreBlock) -> None:
        self.add(block.site, total=block.cached(total, self.measure), rows=block.cached(queries))

    def columns(self, sums: Sums) -> Columns:
        return {"strength": ratio(sums["total"], sums["rows"])}
