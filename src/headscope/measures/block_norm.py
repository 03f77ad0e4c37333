"""What each token contributes to an attention block's output: heads, residual connection, norm (Kobayashi et al. 2021).

The block's output is LN(r_i + sum_j y_ij + b_O), or the sum without LN, with y_ij = sum_h alpha_ij^h f_h(x_j). Where a feed-
forward layer runs beside the attention, what it adds to the same sum is not the attention block's. LN divides by
the scale of the whole sum and is linear otherwise: token j has the part D y_ij / s_i of the output, and i itself r_i too.
||D y_ij||^2 = a^T K_j a as for the heads together, with the heads' D f_h(x_j) in the Gram matrix: no (n, n, d) tensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from headscope.later import Tensor, torch
from headscope.lens import watching
from headscope.lens.measure import measure
from headscope.measures.joint_norm import head_grams, joint_norms, joint_norms_behind_gates

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock, KeySide
    from headscope.lens.watching import ResidualConnection

ALL = slice(None)


@dataclass(frozen=True)
class Parts:
    """The vectors that meet in each row, before the outer normalisation: (batch, row, d_model) each, and the scales."""

    itself: Tensor  # sum_h alpha_ii f_h(x_i), as it is added; zero in cross attention, where no key is the query
    context: Tensor  # sum over all other keys, likewise
    residual: Tensor
    inner_scale: Tensor  # batch row 1
    outer_scale: Tensor  # batch row 1

    @cached_property
    def own(self) -> Tensor:
        return self.residual + self.itself


def parts_of(block: AttentionBlock, texts: Tensor | slice = ALL) -> Parts:
    """What the rows of some texts get from their own token, from all others, and from the residual stream."""
    joining = block.joining
    around, residual = joining.surroundings, joining.residual[texts]
    matrix = block.key_side.cached(_matrices).flatten(0, 1)  # head-and-d_head d_model
    output = joining.output[texts].flatten(2) @ matrix
    itself = own_values(block, texts).flatten(2) @ matrix
    bias = block.key_side.cached(_bias)
    inner_scale, outer_scale = around.scales(residual, output if bias is None else output + bias)
    context = output - itself
    if around.inner is not None:
        itself, context = (around.inner.linear(part) / inner_scale for part in (itself, context))
    if around.factor != 1:
        itself, context = around.factor * itself, around.factor * context
    return Parts(itself, context, residual, inner_scale, outer_scale)


def own_values(block: AttentionBlock, texts: Tensor | slice = ALL) -> Tensor:
    """alpha_ii v_i of every head, behind its gate: (batch, row, head, d_head); zero in cross attention."""
    here = slice(block.rows.start, block.rows.stop)
    if block.site.kind == "cross":
        return torch.zeros_like(block.joining.output[texts])
    weights = block.weights[texts][..., here].diagonal(dim1=2, dim2=3)  # batch head row
    own = (weights[..., None] * block.values[texts][:, :, here]).transpose(1, 2)
    return own if block.gates is None else watching.behind(block.gates[texts], own)


@measure("block_norm", joint=True, needs="residual")
def block_norm(block: AttentionBlock) -> Tensor:
    """The norm of each token's part of the attention block's output: all heads, residual connection and layer norm."""
    around, keys = block.joining.surroundings, block.key_side
    parts = parts_of(block)
    scale = parts.inner_scale * parts.outer_scale
    if block.gates is None:
        scores = joint_norms(block.weights, keys.cached(block_grams, around)) / scale[:, None]
    else:
        arriving = around.linear(keys.projection.matrices)
        scores = joint_norms_behind_gates(block.weights, block.gates, block.values, arriving) / scale[:, None]
    if block.site.kind == "self":
        own = torch.linalg.vector_norm(around.outer_linear(parts.own), dim=-1, keepdim=True) / parts.outer_scale
        own = own * block.row_mask[..., None]
        scores[:, 0, :, block.rows.start : block.rows.stop].diagonal(dim1=1, dim2=2).copy_(own[..., 0])
    return scores


def block_grams(keys: KeySide, around: ResidualConnection) -> Tensor:
    """K_j of the heads' D f_h(x_j) at every key: (head, head, batch, key)."""
    return head_grams(keys.values, watching.inner_of(around.linear(keys.cached(_matrices))))


def _matrices(keys: KeySide) -> Tensor:
    """W_O of every head, read once for all blocks of a batch."""
    return keys.projection.matrices


def _bias(keys: KeySide) -> Tensor | None:
    return keys.projection.bias
