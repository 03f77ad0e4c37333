"""Side: what the rows or the keys of a batch stand for, text by text: its tokens, or its words."""

from collections.abc import Sequence

import torch

from headscope.lens.cached import Cached
from headscope.lens.tokens.batch import Batch


class Side(Cached):
    """The tokens or words that attend, or those that are attended to: of all texts of a batch, each list from its first."""

    def __init__(
        self,
        name: str,
        labels: Sequence[Sequence[str]],
        special: Sequence[Sequence[bool]],
        words: Sequence[Sequence[int | None]],
        device: torch.device,
    ) -> None:
        self.name = name  # "source" | "target"
        self.labels = labels  # as the tokenizer writes them
        self.special = special  # whether each is a special token
        self.words = words  # which of its document's words each belongs to; None for a special token
        self.device = device

    @property
    def longest(self) -> int:
        return max(map(len, self.labels))


def token_side(batch: Batch, name: str) -> Side:
    """The tokens of one side of a batch."""
    sequences = batch.sequences(name)
    return Side(
        name,
        [sequence.tokens for sequence in sequences],
        [sequence.special for sequence in sequences],
        [sequence.word_of for sequence in sequences],
        batch.device,
    )
