"""The baseline that knows only word order: the head is the next word to the right (clark2019, section 5)."""

from __future__ import annotations

import torch
from torch import Tensor

from headscope.probes.base import NO_HEAD, Probe, Sentences


class RightBranching(Probe):
    """The next word to the right. The last word has none, so that nothing is predicted for it, which is wrong."""

    name = "right_branching"

    def predict(self, sentences: Sentences) -> Tensor:
        count = sentences.mask.sum(-1, keepdim=True)
        following = torch.arange(1, sentences.mask.shape[1] + 1, device=count.device).expand_as(sentences.mask)
        return torch.where(following < count, following, NO_HEAD)
