"""One step of the attention-and-words probe: split into the two words' parts, against a weight for every pair."""

from __future__ import annotations

import torch
from torch import Tensor

from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import alternate, as_ratios
from headscope.probes.attention import attention_words_logits

SPLIT, PAIRS = "two parts", "a weight for every pair and head"
SAME = 1e-3  # relative to the largest


def probe_speed(settings: Settings) -> list[Row]:
    """Logits and gradients of the attention-and-words probe for 512 words in sentences of 16, 144 heads, 100 dimensions."""
    texts, length, heads, size = (2, 4, 3, 5) if settings.quick else (32, 16, 144, 100)
    alpha, vectors = torch.rand(texts, length, length, heads), torch.randn(texts, length, size)
    W, U = (torch.randn(heads, 2 * size, requires_grad=True) for _ in range(2))

    def step(logits: Tensor) -> Tensor:
        return torch.autograd.grad(logits.logsumexp(-1).sum(), [W, U])[0]

    things = {
        SPLIT: lambda: step(attention_words_logits(alpha, vectors, W, U)),
        PAIRS: lambda: step(logits_by_pairs(alpha, vectors, W, U)),
    }
    split, pairs = (call() for call in things.values())
    assert (split - pairs).abs().max() <= SAME * pairs.abs().max()
    return as_ratios(alternate(things, settings.repeats), SPLIT, {})


def logits_by_pairs(alpha: Tensor, vectors: Tensor, W: Tensor, U: Tensor) -> Tensor:
    """The paper's formula as it stands: every pair of words is concatenated. (batch, j, i)"""
    length = vectors.shape[1]
    candidates = vectors[:, None].expand(-1, length, -1, -1)
    dependents = vectors[:, :, None].expand(-1, -1, length, -1)
    both = torch.cat([candidates, dependents], -1)  # batch j i 2d
    return ((both @ W.T) * alpha.transpose(1, 2) + (both @ U.T) * alpha).sum(-1)
