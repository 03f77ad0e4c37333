"""||sum_h alpha_h f_h(x)||: the heads of a layer together (kobayashi2020, appendix A)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headscope.kernels.threads import on_cpu, shared
from headscope.later import Later, Tensor, torch
from headscope.lens.measure import measure
from headscope.measures.gated import by_head

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock, KeySide

# Numbers held at a time while the inner products are computed: small enough to stay in a cache.
CHUNK = 500_000

sum_jointly: Any = Later("headscope.kernels.joint_norms", "sum_jointly")


def head_grams(values: Tensor, inner: Tensor) -> Tensor:
    """K_j, the inner products of the heads' f_h(x_j) at every key: (head, head, batch, key).

    From values (batch, head, key, d_head) and the heads' W_O^h W_O^g^T (head, head, d_head, d_head):
    f_h . f_g = v_h (W_O^h W_O^g^T) v_g, without a vector of the model's size.
    """
    batch, heads, length, size = values.shape
    vectors = values.transpose(0, 1).reshape(heads, batch * length, size)
    grams = values.new_empty(heads, heads, batch * length)
    step = max(1, CHUNK // (heads * size))
    for start in range(0, batch * length, step):
        some = vectors[:, start : start + step]
        for head in range(heads):  # with itself and all later ones; the rest is symmetric
            products = (some[head] @ inner[head, head:]).mul_(some[head:]).sum(-1)
            grams[head, head:, start : start + step] = products
            grams[head:, head, start : start + step] = products
    return grams.view(heads, heads, batch, length)


def joint_norms(weights: Tensor, grams: Tensor) -> Tensor:
    """sqrt(a^T K_j a), with a the weights of all heads at (i, j): (batch, 1, row, key)."""
    batch, heads, rows, keys = weights.shape
    if on_cpu(weights, grams):
        found = weights.new_empty(batch, rows, keys)
        arrays = weights.contiguous().numpy(), grams.contiguous().numpy(), found.numpy()
        shared(sum_jointly, batch * rows, weights.numel() * heads // 2, *arrays)
        return found[:, None]
    squared = torch.zeros_like(weights[:, 0])
    for head in range(heads):  # on (batch, row, key) planes: there is no matrix product per key
        with_others = weights[:, head] * grams[head, head][:, None]
        for other in range(head + 1, heads):
            with_others.addcmul_(weights[:, other], grams[head, other][:, None], value=2)
        squared.addcmul_(with_others, weights[:, head])
    return squared.clamp_(min=0).sqrt_()[:, None]


def joint_norms_behind_gates(weights: Tensor, gates: Tensor, values: Tensor, matrices: Tensor) -> Tensor:
    """||sum_h alpha_ij (g_i * v_j) W_h||, W_h being (head, d_head, d): (batch, 1, row, key).

    Where gates are factors of heads, from the heads' inner products; else, from the vectors themselves, some rows at a
    time, which takes as long as W_O does for as many tokens as there are pairs.
    """
    batch, heads, rows, keys = weights.shape
    split = by_head(gates)
    if split is not None:
        flat = (split.gains[..., None] * matrices).flatten(0, 1)
        inner = (flat @ flat.T).view(heads, -1, heads, matrices.shape[1]).transpose(1, 2).contiguous()
        return joint_norms(weights * split.factors.transpose(1, 2)[..., None], head_grams(values, inner))
    norms = weights.new_empty(batch, 1, rows, keys)
    flat = matrices.flatten(0, 1)
    step = max(1, CHUNK // (keys * max(flat.shape)))
    for text in range(batch):
        for start in range(0, rows, step):
            here = slice(start, start + step)
            equation = "hij,ihd,hjd->ijhd" if gates.dim() == 4 else "hij,ihcd,hjc->ijhd"
            weighted = torch.einsum(equation, weights[text, :, here], gates[text, here], values[text])
            norms[text, 0, here] = torch.linalg.vector_norm(weighted.flatten(2) @ flat, dim=-1)
    return norms


def head_grams_of(keys: KeySide) -> Tensor:
    return head_grams(keys.values, keys.projection.inner)


@measure("joint_norm", joint=True)
def joint_norm(block: AttentionBlock) -> Tensor:
    """||sum over heads of alpha f(x)||: the norm of what all heads of a layer bring together."""
    if block.gates is not None:
        return joint_norms_behind_gates(block.weights, block.gates, block.values, block.key_side.projection.matrices)
    return joint_norms(block.weights, block.key_side.cached(head_grams_of))
