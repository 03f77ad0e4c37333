"""What a probe is: for every word of a sentence, a distribution over the other words as its head (clark2019, section 5)."""

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

NO_HEAD = -1  # of a root, and of padding


@dataclass(frozen=True)
class Sentences:
    """Some sentences side by side, padded on the right; `vectors` and `alpha` are there for the probes that need them."""

    heads: Tensor  # batch word: the gold head's place, NO_HEAD for a root and at padding
    mask: Tensor  # batch word, False at padding
    vectors: Tensor | None = None  # batch word size
    alpha: Tensor | None = None  # batch from to head, float32, zero at padding


def head_log_probabilities(logits: Tensor, mask: Tensor) -> Tensor:
    """log p(i|j) over the other words i: (batch, j, i), (batch, word) -> (batch, j, i); -inf for i = j and padding."""
    itself = torch.eye(mask.shape[1], dtype=torch.bool, device=mask.device)
    return logits.masked_fill(itself | ~mask[:, None, :], -torch.inf).log_softmax(-1)


def cross_entropy(logits: Tensor, sentences: Sentences) -> Tensor:
    """Mean of -log p(head|word) over the words that have a head."""
    log_p = head_log_probabilities(logits, sentences.mask)
    return F.nll_loss(log_p.flatten(0, 1), sentences.heads.flatten(), ignore_index=NO_HEAD)


class Probe(nn.Module):
    """The base of all probes: `forward` gives the logits, up to what does not depend on the candidate."""

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()  # of "alpha" and "vectors"
    learning_rate: ClassVar[float] = 0.01

    def forward(self, sentences: Sentences) -> Tensor:
        """(batch, dependent j, candidate i)"""
        raise NotImplementedError

    @torch.no_grad()
    def predict(self, sentences: Sentences) -> Tensor:
        """The most probable head of every word, the first of equals: (batch, word); NO_HEAD where none is predicted."""
        return head_log_probabilities(self(sentences), sentences.mask).argmax(-1)
