"""Norms behind gates: f_i(x_j) = (g_i * v_j) W_O^h, which each row i has of its own.

||alpha_ij f_i(x_j)||^2 = alpha_ij^2 <g_i g_i^T * K, v_j v_j^T> with K = W_O^h W_O^h^T: a product of (n, d_h^2) matrices, of
which symmetry leaves half, for pairs that see each other (behind a causal mask, about half of them). A gate that is one
number a head, or the scale of a norm, is a factor, and costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headscope.errors import NormsUnavailable
from headscope.later import Tensor, torch
from headscope.measures.value_norm import value_norms

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock, KeySide

CHUNK = 2_000_000  # numbers held at a time
SIZE = 16  # dimensions whose products with all that come after are taken at a time
ROWS = 32  # taken together: they need the keys up to the last that one of them sees
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


def gated_norms(gates: Tensor, values: Tensor, inner: Tensor, seen: Tensor | None = None) -> Tensor:
    """||(g_i * v_j) W_O^h|| for gates (batch, row, head, d_head), values (batch, group, key, d_head) and each head's
    W_O^h W_O^h^T (head, d_head, d_head): (batch, head, row, key). Zero where a row sees no such key any more (`seen`)."""
    batch, rows, heads, size = gates.shape
    groups, keys = values.shape[1:3]
    shared = heads // groups
    squared = values.new_zeros(batch, groups, shared, rows, keys)
    upper = (inner.triu() + inner.triu(1)).view(groups, shared, 1, size, size)
    some_rows = _together(rows, keys, CHUNK // (shared * SIZE * size), seen)
    for text in range(batch):
        for group in range(groups):
            of_rows = gates[text].view(rows, groups, shared, size)[:, group].transpose(0, 1)  # shared row d_head
            for here, stop in some_rows:
                of_keys = values[text, group, :stop]  # key d_head
                squared[text, group, :, here, :stop] = _products(of_rows[:, here], of_keys, upper[group])
    return squared.flatten(1, 2).clamp_(min=0).sqrt_()


def _together(rows: int, keys: int, most: int, seen: Tensor | None) -> list[tuple[slice, int]]:
    """Rows that are taken together, at most so many, and how many keys they need."""
    step = max(1, min(most, rows if seen is None else ROWS))
    last = [keys] * rows if seen is None else seen.tolist()
    return [(slice(start, start + step), max(last[start : start + step])) for start in range(0, rows, step)]


def _products(gates: Tensor, values: Tensor, upper: Tensor) -> Tensor:
    """<g g^T * K, v v^T>, from gates (head, row, d), values (key, d) and K (head, 1, d, d): (head, row, key).

    K is symmetric, and so is v v^T: `upper` has the upper half of K, doubled beside the diagonal.
    """
    heads, rows, size = gates.shape
    total = values.new_zeros(heads * rows, len(values))
    for first in range(0, size, SIZE):
        some, rest = slice(first, first + SIZE), slice(first, size)
        left = gates[:, :, some, None] * upper[:, :, some, rest]
        left *= gates[:, :, None, rest]
        right = values[:, some, None] * values[:, None, rest]
        total.addmm_(left.flatten(0, 1).flatten(1), right.flatten(1).T)
    return total.view(heads, rows, -1)


def low_rank_norms(gates: Tensor, values: Tensor, roots: Tensor, seen: Tensor | None = None) -> Tensor:
    """The same from roots (head, d_head, rank) with few columns: ||((g_i * R_h)^T v_j)||, a product of rank d_h a pair."""
    batch, rows, heads, size = gates.shape
    groups, keys = values.shape[1:3]
    norms = values.new_zeros(batch, heads, rows, keys)
    some_rows = _together(rows, keys, CHUNK // (roots.shape[-1] * max(size, keys)), seen)
    for text in range(batch):
        for head in range(heads):
            for here, stop in some_rows:
                some, of_keys = gates[text, here, head], values[text, head * groups // heads, :stop]
                products = (some[:, :, None] * roots[head]).mT.flatten(0, 1) @ of_keys.T  # row-and-rank key
                norms[text, head, here, :stop] = torch.linalg.vector_norm(products.unflatten(0, (len(some), -1)), dim=1)
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


def norms_behind_gates(gates: Tensor, keys: KeySide, weights: Tensor) -> Tensor:
    """||f_i(x_j)|| of a block's rows, zero at padding: (batch, head, row, key). Of keys behind the last that a row gives
    weight to, it need not be known.
    """
    split, values, projection = by_head(gates), keys.key_values.float(), keys.projection
    if gates.dim() == 5:
        norms = mixed_norms(gates, values, projection.roots)
    elif split is not None:
        alike = value_norms(values, split.gains[..., None] * projection.roots)
        norms = alike[:, :, None] * split.factors.abs().transpose(1, 2)[..., None]
    elif 2 * projection.low_rank_roots.shape[-1] <= projection.head_size:
        norms = low_rank_norms(gates, values, projection.low_rank_roots, last_seen(weights))
    else:
        norms = gated_norms(gates, values, projection.roots @ projection.roots.mT, last_seen(weights))
    return norms if keys.mask is None else norms * keys.mask[:, None, None]


def last_seen(weights: Tensor) -> Tensor:
    """(row,): how many keys there are up to the last that any text's row gives weight to, from (batch, head, row, key).

    >>> last_seen(torch.tensor([[[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]]]))
    tensor([1, 2, 0])
    """
    seen = (weights != 0).flatten(0, 1).any(0)
    return (seen * torch.arange(1, seen.shape[1] + 1, device=seen.device)).amax(1)


def check_nothing_is_lost(block: AttentionBlock) -> None:
    """Behind gates, the null space of the heads' vectors is that of the values, unless W_O loses dimensions too."""
    projection = block.key_side.projection
    if projection.low_rank_roots.shape[-1] < projection.head_size:
        raise NormsUnavailable(
            f"{block.site.name}: behind its gate stands a W_O that loses dimensions, so what cannot reach the output is "
            "each row's own; use the measure 'norm'."
        )
