"""The rows of all heads of one batch side by side: attentions come one after the other, so the first wait for the last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headscope.errors import InputError
from headscope.later import Tensor, torch
from headscope.lens import ScoreBlock, Site
from headscope.statistics.base import Heads

LONG = 512  # keys; a text with more of them is held with fewer rows, so that its maps take no more memory


@dataclass
class TextMaps:
    """One text: which of its rows and keys are held, as places in the batch, and their scores."""

    rows: Tensor
    keys: Tensor
    scores: Tensor  # head row key


class BatchMaps:
    """Takes the blocks of one batch, of sites with the same queries and keys, until it is complete."""

    def __init__(self, block: ScoreBlock, heads: Heads, rows: int) -> None:
        self.batch = block.batch
        self.heads = heads
        self.shape = block.key_mask.shape
        queries = block.query_mask
        self._length = queries.shape[1]
        self._upto: dict[Site, int] = {}  # how many rows of a site have come
        self.texts = [
            TextMaps(chosen, keys, block.weights.new_empty(heads.count, len(chosen), len(keys)))
            for chosen, keys in _chosen(queries, block.key_mask, rows)
        ]

    def goes_on_with(self, block: ScoreBlock) -> bool:
        """Whether a block belongs to this batch, and is the next of its site."""
        return block.batch is self.batch and block.rows.start == self._upto.get(block.site, 0)

    def take(self, block: ScoreBlock, scores: Tensor) -> None:
        """Keep the rows of a block (batch, head, row, key) that are chosen."""
        if block.key_mask.shape != self.shape:
            raise InputError(f"{block.site.name} has other keys than the attentions before it: they cannot be compared.")
        for text, given in zip(self.texts, scores, strict=True):
            here = (text.rows >= block.rows.start) & (text.rows < block.rows.stop)
            chosen = given[:, text.rows[here] - block.rows.start]
            text.scores[self.heads.where(block.site), here] = chosen[:, :, text.keys]
        self._upto[block.site] = block.rows.stop

    @property
    def complete(self) -> bool:
        return all(self._upto.get(site) == self._length for site in self.heads.sites)


def _chosen(queries: Tensor, keys: Tensor, most: int) -> Iterator[tuple[Tensor, Tensor]]:
    """For each text, the places of its rows (evenly spaced, not too many) and of its keys."""
    for real_queries, real_keys in zip(queries, keys, strict=True):
        rows = torch.nonzero(real_queries).flatten().to(keys.device)
        columns = torch.nonzero(real_keys).flatten()
        yield rows[evenly(len(rows), max(1, most * LONG // max(len(columns), LONG)))], columns


def evenly(count: int, most: int) -> list[int]:
    """At most `most` of 0 ... count - 1, from the first to the last.

    >>> evenly(3, 8), evenly(9, 3)
    ([0, 1, 2], [0, 4, 8])
    """
    if count <= most:
        return list(range(count))
    return np.linspace(0, count - 1, most).round().astype(int).tolist()
