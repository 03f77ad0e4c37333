"""||f(x)||: the length of the vector that a weight multiplies (kobayashi2020, eq. 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.later import Tensor, torch
from headscope.lens.measure import measure

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock, KeySide


def value_norms(values: Tensor, roots: Tensor) -> Tensor:
    """||v_j W_O^h|| for (batch, group, key, d_head) values and (head, d_head, rank) roots: (batch, head, key).

    A root R_h has R_h R_h^T = W_O^h W_O^h^T, so ||v W_O^h|| = ||v R_h|| without a vector of size d_model.
    """
    batch, groups, length, size = values.shape
    vectors = values.transpose(0, 1).reshape(groups, 1, batch * length, size)
    projected = vectors @ roots.reshape(groups, -1, size, roots.shape[-1])  # group head-in-group text-and-key rank
    norms = torch.linalg.vector_norm(projected, dim=-1)
    return norms.reshape(-1, batch, length).transpose(0, 1)


def value_norms_of(keys: KeySide) -> Tensor:
    """||f_h(x_j)|| of a site's keys, zero at padding: (batch, head, key)."""
    norms = value_norms(keys.key_values.float(), keys.projection.roots)
    return norms if keys.mask is None else norms * keys.mask[:, None]


@measure("value_norm", per_key=True)
def value_norm(block: AttentionBlock) -> Tensor:
    """||f(x)||: the norm of the transformed value vector, without the weight; behind a gate, as if the gate were open.

    A gated head's f has a row, which a number of the key can't have: the measure `norm` has it.
    """
    return block.key_side.cached(value_norms_of)[:, :, None].expand(-1, -1, len(block.rows), -1)
