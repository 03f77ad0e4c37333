"""Probes of attention that is held fixed: a linear combination of all heads, in both directions (clark2019, section 5).

Attention only, with a weight for every head and direction:

    p(i|j) ∝ exp( sum_k  w_k alpha^k_ij + u_k alpha^k_ji )

Attention and words, where the two words set the weights:

    p(i|j) ∝ exp( sum_k  W_k (v_i ⊕ v_j) alpha^k_ij + U_k (v_i ⊕ v_j) alpha^k_ji )

W_k (v_i ⊕ v_j) is a sum of a part that depends on i and a part that depends on j, so a weight for every head
and pair of words is never made: two products with alpha, one by its rows and one by its columns, are all.
"""

import torch
from torch import Tensor, nn

from headscope.probes.base import Probe, Sentences


def attention_logits(alpha: Tensor, w: Tensor, u: Tensor) -> Tensor:
    """(batch, i, j, head), (head,), (head,) -> (batch, j, i): the exponent, for word i as the head of word j."""
    both = alpha @ torch.stack([w, u], -1)  # batch from to 2
    return both[..., 0].mT + both[..., 1]


class AttentionProbe(Probe):
    """`w` weighs the attention from the candidate to the dependent, `u` from the dependent to the candidate."""

    name = "attention"
    needs = ("alpha",)
    learning_rate = 0.1

    def __init__(self, heads: int) -> None:
        super().__init__()
        # The loss is convex, so zeros are as good a beginning as any, and need no seed.
        self.w, self.u = nn.Parameter(torch.zeros(heads)), nn.Parameter(torch.zeros(heads))

    def forward(self, sentences: Sentences) -> Tensor:
        assert sentences.alpha is not None
        return attention_logits(sentences.alpha, self.w, self.u)


def attention_words_logits(alpha: Tensor, vectors: Tensor, W: Tensor, U: Tensor) -> Tensor:
    """(batch, i, j, head), (batch, word, d), (head, 2 d), (head, 2 d) -> (batch, j, i)."""
    size = vectors.shape[-1]
    a, b = vectors @ W[:, :size].T, vectors @ W[:, size:].T  # batch word head: W_k (v_i ⊕ v_j) = a_ik + b_jk
    c, d = vectors @ U[:, :size].T, vectors @ U[:, size:].T
    # alpha_ji has the dependent as its row: its logits are those of alpha_ij with d for a and c for b, transposed.
    by_row = torch.stack([a, d], 2) @ alpha.mT  # batch from 2 to
    by_column = torch.stack([b, c], 2) @ alpha.permute(0, 2, 3, 1)  # batch to 2 from
    return by_row[:, :, 0].mT + by_column[:, :, 0] + by_row[:, :, 1] + by_column[:, :, 1].mT


class AttentionWordsProbe(Probe):
    """`W` and `U`, a row a head, turn the candidate's and the dependent's vectors into that head's two weights."""

    name = "attention_words"
    needs = ("alpha", "vectors")

    def __init__(self, heads: int, size: int) -> None:
        super().__init__()
        self.W, self.U = nn.Parameter(torch.zeros(heads, 2 * size)), nn.Parameter(torch.zeros(heads, 2 * size))

    def forward(self, sentences: Sentences) -> Tensor:
        assert sentences.alpha is not None
        assert sentences.vectors is not None
        return attention_words_logits(sentences.alpha, sentences.vectors, self.W, self.U)
