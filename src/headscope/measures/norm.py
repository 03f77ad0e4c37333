"""||alpha f(x)||: how long a vector a head really brings from one token to another (kobayashi2020, section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.later import Tensor, torch
from headscope.lens.measure import measure
from headscope.lens.watching.workspace import empty
from headscope.measures.gated import norms_behind_gates
from headscope.measures.value_norm import value_norms_of

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock


@measure("norm")
def norm(block: AttentionBlock) -> Tensor:
    """||alpha f(x)||: the norm of the weighted vector, for each head."""
    if block.gates is not None:
        return block.weights * norms_behind_gates(block.gates, block.key_side, block.weights)
    weights = block.weights
    norms = block.key_side.cached(value_norms_of)[:, :, None]
    return torch.mul(weights, norms, out=empty(weights, *weights.shape)) if not torch.is_grad_enabled() else weights * norms
