"""Pairs (x, y) counted quickly by cell, where x is a weight and many pairs share a y: those of one key do.

The cells are those of `rank_sketch`. A table has a row for each bin of y that was met in each category, and a column for
each bin of x: finding a pair's place is one shift and one sum, and counting it is one increment.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.errors import InputError
from headscope.later import Later, Tensor, torch
from headscope.statistics.kit.rank_sketch import X_BITS, Y_BITS, bins, smallest_bin

LOWEST = smallest_bin(X_BITS)  # the bin of a weight of 0
HIGHEST = 127 << X_BITS  # that of a weight of 1
COLUMNS = HIGHEST - LOWEST + 1
Y_BINS = 1 << (8 + Y_BITS)

Ints = NDArray[Any]
count_pairs: Any = Later("headscope.kernels.pair_counts", "count_pairs")


class PairCounts:
    """Counts of cells for some categories, until they are drained."""

    def __init__(self, categories: int) -> None:
        self._categories = categories
        self._clear()

    def _clear(self) -> None:
        self.pairs = 0  # no cell has more
        self._row_of = np.full(self._categories * Y_BINS, -1, np.int32)  # by category and bin of y
        self._known = [-1]  # category and bin of each row; the first row is for keys that do not count
        self._table = np.zeros((64, COLUMNS), np.int32)

    def add(self, x: Tensor, y: Tensor, categories: Tensor, hidden: Tensor) -> None:
        """Add the pairs of keys in a category >= 0.

        x: (text, head, row, key), each at most 1; y: (text, head, key); categories: (text, key).
        hidden: (text, key), how many of a key's rows are no pairs: x must be 0 there.
        """
        rows = self._rows(y, categories)
        base = rows * COLUMNS - LOWEST  # text head key
        table = self._table.reshape(-1)
        bits = x.flatten(0, 1).contiguous().view(torch.int32).numpy()
        count_pairs(bits, base.reshape(-1, base.shape[-1]), 23 - X_BITS, LOWEST, HIGHEST, table)
        if bool(hidden.any()):
            missing = hidden.to(torch.int32)[:, None].expand(-1, x.shape[1], -1).flatten().numpy()
            np.subtract.at(table, (base + LOWEST).ravel().astype(np.int64), missing)
        self.pairs += x.numel()

    def _rows(self, y: Tensor, categories: Tensor) -> Ints:
        """(text, head, key), int32: the table's row of each key; new bins get new rows."""
        labels = bins(y.numpy(), Y_BITS) + (categories.numpy() * Y_BINS)[:, None]
        counted = np.broadcast_to((categories.numpy() >= 0)[:, None], labels.shape)
        rows = np.where(counted, self._row_of[np.where(counted, labels, 0)], 0)
        if (rows < 0).any():
            new = np.unique(labels[rows < 0])
            self._row_of[new] = np.arange(len(self._known), len(self._known) + len(new), dtype=np.int32)
            self._known += new.tolist()
            if len(self._known) > len(self._table):
                more = np.zeros((2 * len(self._known), COLUMNS), np.int32)
                more[: len(self._table)] = self._table
                self._table = more
            rows = np.where(counted, self._row_of[np.where(counted, labels, 0)], 0)
        return rows.astype(np.int32)

    def drain(self) -> Iterator[tuple[int, Ints, Ints]]:
        """For each category met: its number, its cells (of `rank_sketch`) and their counts. Nothing is left here."""
        known, table = np.array(self._known, dtype=np.int64), self._table
        self._clear()
        category, y = known // Y_BINS, known % Y_BINS
        for number in np.unique(category[1:]):
            own = np.flatnonzero(category == number)
            counts = table[own]
            row, column = np.nonzero(counts)
            if (counts[:, 0] < 0).any():
                raise InputError("Some weights are not 0 where a query cannot see the key: is this decoder not causal?")
            cells = (column + LOWEST) << (8 + Y_BITS) | y[own][row]
            yield int(number), cells.astype(np.int32), counts[row, column].astype(np.int64)
