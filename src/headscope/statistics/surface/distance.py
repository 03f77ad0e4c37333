"""How far a head looks: the distance its attention spans, weighted by the attention (vig2019, eq. 6)."""

from __future__ import annotations

import torch

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Fields, ratio
from headscope.statistics.registry import statistic
from headscope.statistics.surface.null_attention import NullFiltered


@statistic
class Distance(NullFiltered):
    """Mean number of tokens between the two ends of a head's attention."""

    name = "distance"
    fields = ("spanned", "total")

    def update(self, block: ScoreBlock) -> None:
        apart = (block.row_positions[:, None] - block.key_positions[self.first_key :]).abs().to(torch.float32)
        self.add("spanned", block.site, torch.einsum("bhij,ij->h", self.kept(block), apart))
        self.add("total", block.site, self.kept_total(block))

    def columns(self, fields: Fields) -> dict[str, Array]:
        return {"distance": ratio(fields["spanned"], fields["total"])}
