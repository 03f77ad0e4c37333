"""What rounding can explain: how far a number that a model computed in its own precision may be from the exact one.

A model keeps a number with a relative error of at most u (2^-24 in float32, 2^-11 in float16, 2^-8 in bfloat16). Sums are
taken to be added up in float32, as PyTorch does, and a few roundings on the way are allowed for.
"""

from __future__ import annotations

from headscope.later import Tensor, torch

ROUNDINGS = 2  # of one number on its way: the sum itself, and the sum with a bias
ROUNDINGS_OF_LOGITS = 4  # q.k, its scale, its mask or bias, its cap


def rounding(size: Tensor, dtype: torch.dtype, roundings: float = ROUNDINGS) -> Tensor:
    """How far numbers of this size may be off in `dtype`.

    >>> rounding(torch.tensor([1.0, 100.0]), torch.bfloat16, 1)
    tensor([0.0039, 0.3906])
    """
    kind = torch.finfo(dtype)
    return roundings * kind.eps / 2 * (size + kind.tiny)


def rounding_of_weights(weights: Tensor, logits: Tensor, dtype: torch.dtype) -> Tensor:
    """How far softmax(logits) may be off where the logits and the weights were kept in `dtype`: (..., query, key).

    d alpha_j = alpha_j (d s_j - sum_k alpha_k d s_k), and |d s| is at most a few roundings of s; the constant of a row,
    which the softmax does not see, is part of what was rounded.
    """
    moved = rounding(logits.abs(), dtype, ROUNDINGS_OF_LOGITS)
    return weights * (moved + (weights * moved).sum(-1, keepdim=True)) + rounding(weights, dtype)
