"""Blocks in words: pieces merged as they stream, whatever rows a block holds.

Attention to a word is the sum over its pieces, from it the mean. A word whose pieces lie in two blocks
waits for the second; a block of words holds the rows that are complete in every text of the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from headscope.later import Tensor, torch
from headscope.lens.block import AttentionBlock
from headscope.lens.score_block import ScoreBlock
from headscope.lens.side import Side
from headscope.lens.site import Site
from headscope.lens.tokens.batch import Batch


class Words(Side):
    """The words of one side of a batch, and indices for scattering."""

    def __init__(self, batch: Batch, name: str) -> None:
        sequences, device = batch.sequences(name), batch.device
        length = max(map(len, sequences))
        groups = [sequence.groups() for sequence in sequences]
        first = [[pieces[0] for pieces in members] for _, members in groups]
        labels = [labels for labels, _ in groups]
        special = [[sequence.special[piece] for piece in pieces] for sequence, pieces in zip(sequences, first, strict=True)]
        words = [[sequence.word_of[piece] for piece in pieces] for sequence, pieces in zip(sequences, first, strict=True)]
        super().__init__(name, labels, special, words, device)
        # Padding goes to a word of its own behind the last, which is cut off again.
        of_token = [[self.longest] * length for _ in sequences]
        share = [[0.0] * length for _ in sequences]
        begun, missing = [0] * (length + 1), [self.longest] * (length + 1)
        for text, (_, members) in enumerate(groups):
            for word, pieces in enumerate(members):
                for piece in pieces:
                    of_token[text][piece] = word
                    share[text][piece] = 1 / len(pieces)
                begun[min(pieces) + 1] = max(begun[min(pieces) + 1], word + 1)
                missing[max(pieces)] = min(missing[max(pieces)], word)
        # How many words have begun in some text after so many rows, and how many are complete in every text: known here,
        # so that no block has to ask its device.
        self._begun = list(accumulate(begun, max))
        self._done = list(accumulate(reversed(missing), min))[::-1]
        self.of_token = torch.tensor(of_token, device=device)
        self.share = torch.tensor(share, device=device)  # of each piece in its word
        self.mask = torch.tensor([[word < len(text) for word in range(self.longest)] for text in labels], device=device)

    def begun(self, rows: int) -> int:
        """How many words have a piece in the first `rows` rows of some text."""
        return self._begun[min(rows, len(self._begun) - 1)]

    def done(self, rows: int) -> int:
        """How many words are complete in every text once `rows` rows have come."""
        return self._done[min(rows, len(self._done) - 1)]


@dataclass(eq=False, repr=False)
class WordBlock(ScoreBlock):
    """Rows and keys are words; special tokens are words of their own. Only some measures have been merged."""

    level = "word"

    site: Site
    rows: range
    merged: dict[str, Tensor]  # by measure: batch head row key
    attending: Words
    attended: Words
    batch: Batch

    def __post_init__(self) -> None:
        self.weights = next(iter(self.merged.values()))
        self.query_mask, self.key_mask = self.attending.mask, self.attended.mask

    def scores(self, measure: str = "weight") -> Tensor:
        return self.merged[measure]


class WordRows:
    """Takes the blocks of a run in tokens, and calls `receive` with blocks in words."""

    def __init__(self, measures: Sequence[str], receive: Callable[[WordBlock], None]) -> None:
        self.measures = measures
        self.receive = receive
        self._first = 0  # the first word that has not been shown
        self._waiting: dict[str, Tensor] = {}  # batch head word key, from that word on

    def __call__(self, block: AttentionBlock) -> None:
        if block.is_first:
            self._queries = block.batch.cached(Words, block.attending.name)
            self._keys = block.batch.cached(Words, block.attended.name)
            self._first, self._waiting = 0, {}
        stop = self._queries.done(block.rows.stop)
        for measure in self.measures:
            self._add(measure, block.scores(measure), block.rows)
        if stop > self._first:
            ready = {measure: rows[:, :, : stop - self._first] for measure, rows in self._waiting.items()}
            self._waiting = {measure: rows[:, :, stop - self._first :] for measure, rows in self._waiting.items()}
            words = range(self._first, stop)
            self._first = stop
            self.receive(WordBlock(block.site, words, ready, self._queries, self._keys, block.batch))

    def _add(self, measure: str, scores: Tensor, rows: range) -> None:
        """Sum over the pieces of each key, then add each row's share to its word."""
        batch, heads, _, _ = scores.shape
        here = slice(rows.start, rows.stop)
        merged = scores.new_zeros(batch, heads, len(rows), self._keys.longest + 1)
        merged.scatter_add_(3, self._keys.of_token[:, None, None].expand_as(scores), scores)
        merged = merged[..., :-1] * self._queries.share[:, None, here, None]
        words = self._queries.of_token[:, here] - self._first  # padding's word is the last one
        last = self._queries.longest - self._first
        needed = self._queries.begun(rows.stop) - self._first
        waiting = self._waiting.get(measure)
        buffer = scores.new_zeros(batch, heads, max(needed, 0 if waiting is None else waiting.shape[2]) + 1, merged.shape[3])
        if waiting is not None:
            buffer[:, :, : waiting.shape[2]] = waiting
        where = torch.where(words < last, words, buffer.shape[2] - 1)
        buffer.scatter_add_(2, where[:, None, :, None].expand_as(merged), merged)
        self._waiting[measure] = buffer[:, :, :-1]
