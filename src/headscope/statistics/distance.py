"""How far a head looks: the distance its attention spans, weighted by the attention (vig2019, eq. 6)."""

from __future__ import annotations

import torch

from headscope.lens.block import AttentionBlock
from headscope.statistics.base import Array, Fields, Statistic, ratio
from headscope.statistics.registry import statistic
from headscope.statistics.totals import total


@statistic
class Distance(Statistic):
    """Mean number of tokens between the two ends of a head's attention."""

    name = "distance"
    fields = ("spanned", "total")

    def update(self, block: AttentionBlock) -> None:
        apart = (block.row_positions[:, None] - block.key_positions).abs().to(torch.float32)
        self.add("spanned", block.site, torch.einsum("bhij,ij->h", block.scores(self.measure), apart))
        self.add("total", block.site, total(block, self.measure))

    def columns(self, fields: Fields) -> dict[str, Array]:
        return {"distance": ratio(fields["spanned"], fields["total"])}
