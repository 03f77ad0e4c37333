"""Norms behind gates: f_i(x_j) = (g_i * v_j) W_O^h, which each row i has of its own.

||alpha_ij f_i(x_j)||^2 = alpha_ij^2 <g_i g_i^T * K, v_j v_j^T> with K = W_O^h W_O^h^T: a product of (n, d_h^2) matrices, of
which symmetry leaves half. A gate that is one number a head, or the scale of a norm, is a factor, and costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headscope.errors import NormsUnavailable
from headscope.later import Tensor, torch
from headscope.measures.value_norm import value_norms

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock, KeySide

CHUNK = 2_000_000  # numbers held at a time
SIZE = 16  # dimensions whose products with each other are taken at a time: their symmetric half is not computed
EXACT = 1e-6  # how far a gate may be from a factor of each row and head, as a share of the largest


class ByHead(NamedTuple):
    """A gate that is a factor for each row and head, and a gain that all rows share."""

    factors: Tensor  # batch row head
    gains: Tensor  # head d_head


def by_head(gates: Tensor) -> ByHead | None:
    """Gates (batch, row, head, d_head) as factors and gains; None where every row has a gate of its own.

    >>> rows = torch.tensor([[[[2.0, 4.0]], [[3.0, 6.0]]]])
    >>> [part.tolist() for part in by_head(rows)]
    [[[[0.6666666865348816], [1.0]]], [[3.0, 6.0]]]
    """
    if gates.dim() == 5:
        return None
    flat = gates.flatten(0, 1)
    largest = flat.abs().amax(-1).argmax(0)  # the row in which each head has its largest
    gains = flat[largest, torch.arange(flat.shape[1], device=flat.device)]
    factors = (gates * gains).sum(-1) / gains.square().sum(-1).clamp(min=1e-30)
    apart = (gates - factors[..., None] * gains).abs().max()
    return ByHead(factors, gains) if bool(apart <= EXACT * gates.abs().max()) else None


def gated_norms(gates: Tensor, values: Tensor, inner: Tensor) -> Tensor:
    """||(g_i * v_j) W_O^h|| for gates (batch, row, head, d_head), values (batch, group, key, d_head) and each head's
    W_O^h W_O^h^T (head, d_head, d_head): (batch, head, row, key)."""
    batch, rows, heads, size = gates.shape
    groups, keys = values.shape[1:3]
    shared = heads // groups
    squared = values.new_empty(batch, groups, shared, rows, keys)
    inner = inner.view(groups, shared, 1, size, size)
    step = max(1, CHUNK // (shared * SIZE * SIZE))
    for text in range(batch):
        for group in range(groups):
            of_rows = gates[text].view(rows, groups, shared, size)[:, group].transpose(0, 1)  # shared row d_head
            of_keys = values[text, group]  # key d_head
            for start in range(0, rows, step):
                some = of_rows[:, start : start + step]
                squared[text, group, :, start : start + step] = _products(some, of_keys, inner[group])
    return squared.flatten(1, 2).clamp_(min=0).sqrt_()


def _products(gates: Tensor, values: Tensor, inner: Tensor) -> Tensor:
    """<g g^T * K, v v^T>, from gates (head, row, d), values (key, d) and K (head, 1, d, d): (head, row, key)."""
    heads, rows, size = gates.shape
    total = values.new_zeros(heads * rows, len(values))
    for first in range(0, size, SIZE):
        one = slice(first, first + SIZE)
        for second in range(first, size, SIZE):
            other = slice(second, second + SIZE)
            left = gates[:, :, one, None] * gates[:, :, None, other] * inner[:, :, one, other]
            right = values[:, one, None] * values[:, None, other]
            total.addmm_(left.flatten(0, 1).flatten(1), right.flatten(1).T, alpha=1 if first == second else 2)
    return total.view(heads, rows, -1)


def low_rank_norms(gates: Tensor, values: Tensor, roots: Tensor) -> Tensor:
    """The same from roots (head, d_head, rank) with few columns: ||((g_i * R_h)^T v_j)||, a product of rank d_h a pair."""
    batch, rows, heads, size = gates.shape
    groups, keys = values.shape[1:3]
    norms = values.new_empty(batch, heads, rows, keys)
    step = max(1, CHUNK // (roots.shape[-1] * max(size, keys)))
    for text in range(batch):
        for head in range(heads):
            of_keys = values[text, head * groups // heads]
            for start in range(0, rows, step):
                some = gates[text, start : start + step, head]
                products = (some[:, :, None] * roots[head]).mT.flatten(0, 1) @ of_keys.T  # row-and-rank key
                norms[text, head, start : start + step] = torch.linalg.vector_norm(
                    products.unflatten(0, (len(some), -1)), dim=1
                )
    return norms


def mixed_norms(gates: Tensor, values: Tensor, roots: Tensor) -> Tensor:
    """||v_j G_i R_h|| for matrices G_i (batch, row, head, d_head, d_head): (batch, head, row, key)."""
    batch, rows, heads, size = gates.shape[:4]
    groups, keys = values.shape[1:3]
    norms = values.new_empty(batch, heads, rows, keys)
    step = max(1, CHUNK // (roots.shape[-1] * max(size, keys)))
    for text in range(batch):
        for head in range(heads):
            for start in range(0, rows, step):
                here = slice(start, start + step)
                vectors = values[text, head * groups // heads] @ (gates[text, here, head] @ roots[head])  # row key rank
                norms[text, head, here] = torch.linalg.vector_norm(vectors, dim=-1)
    return norms


def norms_behind_gates(gates: Tensor, keys: KeySide) -> Tensor:
    """||f_i(x_j)|| of a block's rows, zero at padding: (batch, head, row, key)."""
    split, values, projection = by_head(gates), keys.key_values.float(), keys.projection
    if gates.dim() == 5:
        norms = mixed_norms(gates, values, projection.roots)
    elif split is not None:
        alike = value_norms(values, split.gains[..., None] * projection.roots)
        norms = alike[:, :, None] * split.factors.abs().transpose(1, 2)[..., None]
    elif 2 * projection.low_rank_roots.shape[-1] <= projection.head_size:
        norms = low_rank_norms(gates, values, projection.low_rank_roots)
    else:
        norms = gated_norms(gates, values, projection.roots @ projection.roots.mT)
    return norms if keys.mask is None else norms * keys.mask[:, None, None]


def check_nothing_is_lost(block: AttentionBlock) -> None:
    """Behind gates, the null space of the heads' vectors is that of the values, unless W_O loses dimensions too."""
    projection = block.key_side.projection
    if projection.low_rank_roots.shape[-1] < projection.head_size:
        raise NormsUnavailable(
            f"{block.site.name}: behind its gate stands a W_O that loses dimensions, so what cannot reach the output is "
            "each row's own; use the measure 'norm'."
        )
