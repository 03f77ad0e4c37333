"""How much a head commits to one token: the largest score of a row."""

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Columns, Statistic, Sums, ratio
from headscope.statistics.columns import LENGTH, SHARE, Column
from headscope.statistics.kit.totals import queries
from headscope.statistics.registry import statistic


@statistic("maximum")
class Maximum(Statistic):
    """Mean of the largest score in a row: 1 for a head that always looks at one token."""

    sums = ("maximum", "rows")
    card_place = 90
    maximum = Column(
        "Strongest pair of a row", SHARE, "The largest score of a row, on average.", "is more decided", unit_of_norms=LENGTH
    )

    def update(self, block: ScoreBlock) -> None:
        largest = block.scores(self.measure).amax(-1) * block.row_mask[:, None]
        self.add(block.site, maximum=largest.sum((0, 2)), rows=queries(block))

    def columns(self, sums: Sums) -> Columns:
        return {"maximum": ratio(sums["maximum"], sums["rows"])}
