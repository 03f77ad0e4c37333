"""Side: what the rows or the keys of a batch stand for, text by text: its tokens, or its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headscope.later import torch
from headscope.lens.cached import Cached
from headscope.lens.tokens.batch import Batch


@dataclass(eq=False, repr=False)
class Side(Cached):
    """The tokens or words that attend, or those that are attended to: of all texts of a batch, each list from its first."""

    name: str  # "source" | "target"
    labels: Sequence[Sequence[str]]  # as the tokenizer writes them
    special: Sequence[Sequence[bool]]  # whether each is a special token
    words: Sequence[Sequence[int | None]]  # which of its document's words each belongs to; None for a special token
    device: torch.device

    @property
    def longest(self) -> int:
        return max(map(len, self.labels))


def token_side(batch: Batch, name: str) -> Side:
    """The tokens of one side of a batch."""
    texts = batch.sequences(name)
    labels, special, words = (
        [text.tokens for text in texts],
        [text.special for text in texts],
        [text.word_of for text in texts],
    )
    return Side(name, labels, special, words, batch.device)
