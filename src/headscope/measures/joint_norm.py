"""||sum_h alpha_h f_h(x)||: the heads of a layer together (kobayashi2020, appendix A)."""

from torch import Tensor

from headscope.lens.block import AttentionBlock, KeySide
from headscope.measures.registry import measure

# f_h(x_j) of this many numbers at a time, so that a long text never holds (key, head, d_model).
CHUNK = 16_000_000


def head_grams(values: Tensor, matrices: Tensor) -> Tensor:
    """K_j, the inner products of the heads' f_h(x_j) at every key: (batch, key, head, head).

    From values (batch, head, key, d_head) and W_O (head, d_head, d_model).
    """
    batch, heads, length, _ = values.shape
    step = max(1, CHUNK // (batch * heads * matrices.shape[-1]))
    grams = values.new_empty(batch, length, heads, heads)
    for start in range(0, length, step):
        transformed = values[:, :, start : start + step] @ matrices  # batch head key d_model
        transformed = transformed.transpose(1, 2)
        grams[:, start : start + step] = transformed @ transformed.mT
    return grams


def joint_norms(weights: Tensor, grams: Tensor) -> Tensor:
    """sqrt(a^T K_j a), with a the weights of all heads at (i, j): (batch, 1, row, key)."""
    by_key = weights.permute(0, 3, 2, 1).contiguous()  # batch key row head
    squared = (by_key @ grams).mul_(by_key).sum(-1)  # batch key row
    return squared.clamp_(min=0).sqrt_().mT[:, None]


def head_grams_of(keys: KeySide) -> Tensor:
    return keys.once("head_grams", lambda: head_grams(keys.values, keys.projection.matrices))


@measure("joint_norm", joint=True)
def joint_norm(block: AttentionBlock) -> Tensor:
    """||sum over heads of alpha f(x)||: the norm of what all heads of a layer bring together."""
    return joint_norms(block.weights, head_grams_of(block.key_side))
