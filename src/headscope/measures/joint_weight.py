"""The weights of all heads of a layer together: their sum (kobayashi2020, section 5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.later import Tensor
from headscope.lens.measure import measure

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock


@measure("joint_weight", joint=True, needs="weights")
def joint_weight(block: AttentionBlock) -> Tensor:
    """The sum of the weights of a layer's heads."""
    return block.weights.sum(1, keepdim=True)
