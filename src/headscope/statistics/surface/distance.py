"""How far a head looks: the distance its attention spans, weighted by the attention (vig2019, eq. 6)."""

from __future__ import annotations

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Columns, Sums, ratio
from headscope.statistics.columns import TOKENS, Column
from headscope.statistics.kit.text_means import Averaged
from headscope.statistics.kit.totals import on_first, reach
from headscope.statistics.registry import statistic
from headscope.statistics.surface.null_attention import NullFiltered


@statistic("distance")
class Distance(Averaged, NullFiltered):
    """Mean number of tokens between the two ends of a head's attention."""

    sums = ("spanned", "total")
    card_place = 80
    distance = Column(
        "Mean distance", TOKENS, "How many tokens away the head looks, on average.", "looks further away", positional=True
    )

    def update(self, block: ScoreBlock) -> None:
        spanned = reach(block, self.measure).spanned
        if not self.without_first:
            spanned = spanned + (on_first(block, self.measure) * block.row_positions).sum(2)
        self.add(block.site, spanned=spanned.sum(0), total=self.total_in(block))

    def columns(self, sums: Sums) -> Columns:
        return {"distance": ratio(sums["spanned"], sums["total"])}
