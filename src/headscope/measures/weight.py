"""The attention weight alpha (kobayashi2020, eq. 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.later import Tensor
from headscope.lens.measure import measure

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock


@measure("weight", needs="weights")
def weight(block: AttentionBlock) -> Tensor:
    """alpha: the attention weight, as the model computed it."""
    return block.weights
