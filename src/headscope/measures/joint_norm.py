"""||sum_h alpha_h f_h(x)||: the heads of a layer together (kobayashi2020, appendix A)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.later import Tensor, torch
from headscope.lens.measure import measure

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock, KeySide

# Numbers held at a time while the inner products are computed: small enough to stay in a cache.
CHUNK = 2_000_000


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
    """sqrt(a^T K_j a), with a the weights of all heads at (i, j): (batch, 1, row, key).

    Head by head on (batch, row, key) planes: on a CPU three times as fast as a matrix product per key.
    """
    heads = weights.shape[1]
    squared = torch.zeros_like(weights[:, 0])
    for head in range(heads):
        with_others = weights[:, head] * grams[head, head][:, None]
        for other in range(head + 1, heads):
            with_others.addcmul_(weights[:, other], grams[head, other][:, None], value=2)
        squared.addcmul_(with_others, weights[:, head])
    return squared.clamp_(min=0).sqrt_()[:, None]


def head_grams_of(keys: KeySide) -> Tensor:
    return head_grams(keys.values, keys.projection.inner)


@measure("joint_norm", joint=True)
def joint_norm(block: AttentionBlock) -> Tensor:
    """||sum over heads of alpha f(x)||: the norm of what all heads of a layer bring together."""
    return joint_norms(block.weights, block.key_side.cached(head_grams_of))
