"""The two sides of a batch of sentence pairs, as matrices that merge pieces into words (kobayashi2020, appendix E.2)."""

from __future__ import annotations

from collections.abc import Sequence

from headscope.later import Tensor, torch
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import TokenSequence

AWI, AWO = "AWI", "AWO"
SETTINGS = (AWI, AWO)
NO_LINK = -1


class Sides:
    """Sums over a source word's pieces, means over a target word's, in either setting.

    AWO (alignment with output) reads the row that predicts a piece, AWI (with input) the row in which the decoder reads it.
    Columns are the source words and then, where `candidates` has them, tokens that mean 'no link'.
    """

    def __init__(
        self,
        source_of: Sequence[Sequence[int | None]],
        target_of: Sequence[Sequence[int | None]],
        no_link: Sequence[Sequence[bool]],
        device: torch.device,
    ) -> None:
        """For each text: the source word of every key, the target word of every row's input, and the 'no link' keys."""
        self.source_count = 1 + max((word for text in source_of for word in text if word is not None), default=0)
        target_count = 1 + max((word for text in target_of for word in text if word is not None), default=0)
        keys, rows = max(map(len, source_of)), max(map(len, target_of))
        extra = max(map(sum, no_link))
        columns = torch.zeros(len(source_of), keys, self.source_count + extra)  # batch key column
        for text, (words, others) in enumerate(zip(source_of, no_link, strict=True)):
            for key, word in enumerate(words):
                if word is not None:
                    columns[text, key, word] = 1
            for column, key in enumerate(key for key, other in enumerate(others) if other):
                columns[text, key, self.source_count + column] = 1
        shares = {setting: torch.zeros(len(target_of), target_count, rows) for setting in SETTINGS}  # batch word row
        for text, words in enumerate(target_of):
            for row, word in enumerate(words):
                if word is not None:
                    shares[AWI][text, word, row] = shares[AWO][text, word, row - 1] = 1 / words.count(word)
        self._columns = columns.to(device)
        self._shares = {setting: matrix.to(device) for setting, matrix in shares.items()}
        self.spoken = self._shares[AWI].sum(2) > 0  # batch target-word: those that have a piece
        self.there = self._columns[:, :, : self.source_count].sum(1) > 0  # batch source-word

    def merged(self, scores: Tensor, setting: str, rows: range) -> Tensor:
        """What a block of rows adds: (batch, head, row, key) -> (batch, head, target word, column)"""
        return self._shares[setting][:, None, :, rows.start : rows.stop] @ (scores @ self._columns[:, None])

    def choose(self, scores: Tensor) -> Tensor:
        """(batch, head, target word, column) -> the source word of each, or NO_LINK: (batch, head, target word)"""
        best = scores.argmax(-1)
        return torch.where((best < self.source_count) & self.spoken[:, None], best, NO_LINK)


def sides_of(batch: Batch) -> Sides:
    """Of forced decoding, where every special token of the source is a candidate that means 'no link'; or of prompts."""
    if not batch.has_target:
        return prompt_sides(batch)
    special = [sequence.special for sequence in batch.sources]
    return Sides(_words(batch.sources), _words(batch.targets), special, batch.device)


def prompt_sides(batch: Batch) -> Sides:
    """Of a batch of prompts: the source's words are the columns, and nothing means 'no link'."""
    counts = [len(document.words or ()) for document in batch.documents]
    pairs = list(zip(batch.sources, counts, strict=True))
    source_of = [[word if word is not None and word < count else None for word in text.word_of] for text, count in pairs]
    target_of = [
        [word - count if word is not None and word >= count else None for word in text.word_of] for text, count in pairs
    ]
    return Sides(source_of, target_of, [[False] * len(text) for text, _ in pairs], batch.device)


def _words(sequences: Sequence[TokenSequence]) -> list[list[int | None]]:
    return [sequence.word_of for sequence in sequences]
