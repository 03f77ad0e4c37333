"""The attention-only probe: a linear combination of all heads' attention, in both directions (clark2019, section 5).

p(i|j) ∝ exp( sum_k  w_k alpha^k_ij + u_k alpha^k_ji )
"""

from __future__ import annotations

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
        self.w = nn.Parameter(torch.zeros(heads))
        self.u = nn.Parameter(torch.zeros(heads))

    def forward(self, sentences: Sentences) -> Tensor:
        assert sentences.alpha is not None
        return attention_logits(sentences.alpha, self.w, self.u)
