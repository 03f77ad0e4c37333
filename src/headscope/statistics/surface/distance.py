"""How far a head looks: the distance its attention spans, weighted by the attention (vig2019, eq. 6)."""

from __future__ import annotations

from headscope.later import Tensor, torch
from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Columns, Sums, ratio
from headscope.statistics.columns import TOKENS, Column
from headscope.statistics.kit.sweeps import sweep
from headscope.statistics.kit.text_means import Averaged
from headscope.statistics.registry import statistic
from headscope.statistics.surface.null_attention import NullFiltered


def spans(scores: Tensor, apart: Tensor) -> Tensor:
    """(batch, head, row, key), (row, key) -> (batch, head): the sum of scores times how far apart their ends are."""
    return scores.flatten(2) @ apart.flatten()


@statistic("distance")
class Distance(Averaged, NullFiltered):
    """Mean number of tokens between the two ends of a head's attention."""

    sums = ("spanned", "total")
    card_place = 80
    distance = Column(
        "Mean distance", TOKENS, "How many tokens away the head looks, on average.", "looks further away", positional=True
    )

    def update(self, block: ScoreBlock) -> None:
        apart = (block.row_positions[:, None] - block.key_positions).abs().to(torch.float32)
        apart[:, : self.first_key] = 0
        (spanned,) = sweep(block, self.measure, lambda scores, _: (spans(scores, apart),))
        self.add(block.site, spanned=spanned.sum(0), total=self.total_in(block))

    def columns(self, sums: Sums) -> Columns:
        return {"distance": ratio(sums["spanned"], sums["total"])}
