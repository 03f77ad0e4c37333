"""What links are read off a model by: one layer or head, heads together, or heads with weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from headscope.later import Tensor
from headscope.lens.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.statistics.alignment.sides import Sides

TINY = 1e-9


class Aligner(Protocol):
    """Plain data, so that other processes can be handed it."""

    @property
    def label(self) -> str: ...

    @property
    def why(self) -> str: ...

    @property
    def places(self) -> Sequence[tuple[int, int | None]]:
        """The layers and heads that it reads; no head: all of the layer together."""
        ...

    def word_scores(self, lens: Lens, batch: Batch) -> Tensor:
        """(batch, target word, column): columns are the source words, and then what means 'no link'."""
        ...

    def links(self, scores: Tensor, sides: Sides) -> Tensor:
        """Which of the scores are links: (batch, target word, column) -> (batch, target word, source word)"""
        ...

    def strengths(self, scores: Tensor, sides: Sides) -> Tensor:
        """The score of each link, 0 to 1: (batch, target word, column) -> (batch, target word, source word)"""
        ...

    def shares(self, scores: Tensor) -> Tensor:
        """What each column has of a target word, 'no link' too, to be multiplied with another model's: 0 to 1."""
        ...


def row_shares(scores: Tensor) -> Tensor:
    """Every row made to sum to 1; a row of nothing stays one."""
    return scores / scores.sum(-1, keepdim=True).clamp(min=TINY)
