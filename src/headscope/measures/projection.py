"""p_ij(u) = alpha_ij <v_j, W_O^h u_i>: how far a head's vector goes along a direction that each row chooses for itself.

Signed and linear in u, so that parts add up. With y_i the attention's output (without b_O, which belongs to no token) and
u_i = y_i / ||y_i||^2, the parts of a row sum to 1 over all heads and keys. One product of the size of Q K^T: W_O^h u_i
stands for the query, times the gate where there is one, and the values for the keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.later import Tensor
from headscope.lens import watching
from headscope.lens.measure import measure

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock


def projections(
    weights: Tensor, values: Tensor, matrices: Tensor, directions: Tensor, gates: Tensor | None = None
) -> Tensor:
    """From (batch, head, row, key), (batch, head, key, d_head), (head, d_head, d_model), (batch, row, d_model) and, where
    there are some, gates (batch, row, head, d_head) or (batch, row, head, d_head, d_head): (batch, head, row, key)
    """
    batch, heads, rows, _ = weights.shape
    read = (directions @ matrices.flatten(0, 1).T).view(batch, rows, heads, -1)  # W_O^h u_i
    if gates is not None:  # <v G, W u> = <v, G W u>
        read = watching.behind(gates if gates.dim() == 4 else gates.mT, read)
    return (read.transpose(1, 2) @ values.mT).mul_(weights)


def along(vectors: Tensor) -> Tensor:
    """v / ||v||^2, with which <v, u> is 1; zero where v is: (..., d) -> (..., d)"""
    squared = vectors.square().sum(-1, keepdim=True)
    return vectors / squared.where(squared > 0, 1)


def collected(block: AttentionBlock) -> Tensor:
    """z = sum_j alpha_ij v_j, behind its gate, what W_O reads of each head: (batch, row, head, d_head)"""
    summed = (block.weights @ block.values).transpose(1, 2)
    return summed if block.gates is None else watching.behind(block.gates, summed)


def outputs_of(block: AttentionBlock) -> Tensor:
    """y, the attention's output without b_O: (batch, row, d_model)"""
    return block.cached(collected).flatten(2) @ block.key_side.projection.matrices.flatten(0, 1)


def toward(block: AttentionBlock, directions: Tensor) -> Tensor:
    """The parts of a block's vectors along (batch, row, d_model): (batch, head, row, key)"""
    return projections(block.weights, block.values, block.key_side.projection.matrices, directions, block.gates)


@measure("projection", signed=True)
def projection(block: AttentionBlock) -> Tensor:
    """alpha <f(x), u>: the part of each vector along the attention's output, or along a direction of your own."""
    return toward(block, along(outputs_of(block)) if block.direction is None else block.direction)
