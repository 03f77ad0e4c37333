"""Small contents to draw: random weights between a few tokens, with norms, queries and keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headscope.views.content import Attention, Content, Neurons, Side

TOKENS = ["[CLS]", "the", "un", "##real", "cat", "[SEP]", "it", "sat", "[SEP]"]
SIDE = Side(
    tokens=TOKENS,
    raw=TOKENS,
    special=[token.startswith("[") for token in TOKENS],
    words=["[CLS]", "the", "unreal", "cat", "[SEP]", "it", "sat", "[SEP]"],
    word_of=[0, 1, 2, 2, 3, 4, 5, 6, 7],
    segments=[0, 0, 0, 0, 0, 0, 1, 1, 1],
)


def random_content(side: Side = SIDE, layers: int = 2, heads: Sequence[int] = (0, 1, 2), size: int = 4) -> Content:
    """Weights are the softmax of q.k / sqrt(size); pairs of heads share keys where their number is even."""
    random = np.random.default_rng(0)
    count, groups = len(side), len(heads) // 2 if len(heads) % 2 == 0 else len(heads)
    attentions = []
    for layer in range(layers):
        queries = random.normal(size=(len(heads), count, size)).astype(np.float32)
        keys = random.normal(size=(groups, count, size)).astype(np.float32)
        logits = queries @ keys.repeat(len(heads) // groups, 0).transpose(0, 2, 1) / np.sqrt(size)
        weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        norms = random.uniform(0.5, 4, size=(len(heads), count)).astype(np.float32)
        scores = {
            "weight": weights.astype(np.float32),
            "norm": (weights * norms[:, None]).astype(np.float32),
            "joint_norm": (weights * norms[:, None]).sum(0, keepdims=True).astype(np.float32),
            "effective": (weights - 0.2).astype(np.float32),
        }
        neurons = Neurons(queries, keys, 1 / float(np.sqrt(size)), True)
        attentions.append(Attention("encoder", "self", layer, list(heads), "source", "source", scores, norms, neurons))
    return Content("a title", {"source": side}, attentions)


def plain_content(tokens: Sequence[str], **options: int) -> Content:
    """Tokens of any kind, each a word of its own."""
    return random_content(Side.plain(tokens), **options)
