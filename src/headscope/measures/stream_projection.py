"""The part that each head's vector has in the residual stream behind its attention: along the sum s_i = r_i + y_i itself.

u_i = s_i / ||s_i||^2, so that what the heads bring, b_O and the stream before them, r_i, sum to 1. Where the model
normalises y before it adds it, the vectors are taken as they are added; a norm of the whole sum comes later, and changes no
share of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.later import Tensor
from headscope.lens.measure import measure
from headscope.measures.projection import along, outputs_of, toward

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock


def stream_directions(block: AttentionBlock) -> Tensor:
    """s_i / ||s_i||^2, as seen from in front of a norm that y passes on its way: (batch, row, d_model)"""
    around, residual = block.joining.surroundings, block.joining.residual
    bias = block.key_side.projection.bias
    output = outputs_of(block) if bias is None else outputs_of(block) + bias
    if around.inner is None:
        return around.factor * along(residual + around.factor * output)
    directions = around.factor * along(residual + around.factor * around.inner(output))
    return around.inner.transposed(directions) / around.inner.scale(output)


@measure("stream_projection", title="part of the stream", signed=True, needs="residual")
def stream_projection(block: AttentionBlock) -> Tensor:
    """alpha <f(x), u>: the part of each vector along the residual stream that it joins."""
    return toward(block, stream_directions(block))
