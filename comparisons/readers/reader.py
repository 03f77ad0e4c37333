"""What every tool is asked for: weights and norms of all heads, held or reduced to a number a head."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from headscope.lens.tokens.batch import Batch


class Reader(ABC):
    """A model opened with one tool. `backbone` is the part whose output is the last hidden states, as the tool runs it."""

    backbone: nn.Module

    @abstractmethod
    def maps(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """All weights and all norms of one text, in memory: each (layer, head, query, key)."""

    @abstractmethod
    def strongest(self, batch: Batch) -> Tensor:
        """(2, layer, head): the share of a row that its strongest key has, on average over rows, by weight and by norm.

        Nothing else is kept. It is the task for long texts, and every tool reduces as early as it can.
        """


def shares(scores: Tensor) -> Tensor:
    """The strongest key's share of every row: (..., query, key) -> (..., query).

    >>> shares(torch.tensor([[1.0, 0.0], [1.0, 3.0]]))
    tensor([1.0000, 0.7500])
    """
    return scores.amax(-1) / scores.sum(-1)


def value_norms(values: Tensor, output: Tensor) -> Tensor:
    """||f(x)|| of every head and key, for tools that give the values and W_O and leave the rest to their user.

    values (key, group, d_head), output (head, d_head, d_model) -> (head, key)

    >>> value_norms(torch.ones(1, 1, 2), torch.tensor([[[3.0], [0.0]], [[1.0], [1.0]]]))
    tensor([[3.],
            [2.]])
    """
    values = values.repeat_interleave(output.shape[0] // values.shape[1], dim=1)
    return torch.einsum("khd,hdm->hkm", values, output).norm(dim=-1)
