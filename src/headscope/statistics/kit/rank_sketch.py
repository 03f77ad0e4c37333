"""A mergeable sketch of pairs (x, y) for Spearman's rho: the pairs themselves while they are few, then counts of fine cells.

The cell of a pair depends on nothing but the pair, and whether there are cells depends on nothing but how many pairs there
are: whichever way parts are merged, the result is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.errors import InputError
from headscope.later import stats

LIMIT = 20_000  # pairs that are kept as they are
WAITING = 1 << 20  # cells that wait to be counted
X_BITS, Y_BITS = 5, 7  # of the significand: 32 bins an octave of x, 128 of y, which many pairs share
OCTAVES = 40  # below 1 that are told apart; what is smaller is in one bin with zero

Numbers = NDArray[Any]


def bins(values: Numbers, bits: int) -> NDArray[np.int32]:
    """The bin of each non-negative float32: its exponent and `bits` bits of its significand, which grow with the value.

    >>> bins(np.float32([0.25, 0.5, 0.5039, 0.5079]), 6) - bins(np.float32([0.25]), 6)
    array([ 0, 64, 64, 65], dtype=int32)
    """
    found = np.ascontiguousarray(values, dtype=np.float32).view(np.int32) >> (23 - bits)
    return np.maximum(found, smallest_bin(bits))


def smallest_bin(bits: int) -> int:
    """The bin of zero, and of all below 2 ** -OCTAVES."""
    return ((127 - OCTAVES) << bits) - 1


def cells_of(x: Numbers, y: Numbers) -> NDArray[np.int32]:
    """The cell of each pair in one number, sorted by x, then y."""
    return bins(x, X_BITS) << (8 + Y_BITS) | bins(y, Y_BITS)


def spearman_of_cells(cells: Numbers, counts: Numbers) -> tuple[float, float]:
    """Spearman's rho of the bins (average ranks, as in scipy), and a bound of its distance to that of the pairs.

    A bin's rank R' is the mean rank of its values, so that the ranks are R = R' + e and S = S' + d, where e has mean 0 in
    each bin of x, and d in each of y. In a bin with a share p of all pairs, ranks (as shares of all pairs, too) vary by at
    most p^2 / 12: all differ, and less where some are equal. With E = sum p^3 / 12 and D likewise for y,

        cov(R, S) = cov(R', S') + cov(e, S') + cov(R', d) + cov(e, d)
        |cov(e, S')| <= sum over bins of x: p * p / sqrt(12) * (deviation of S' in the bin)     (Cauchy-Schwarz in each bin)
        |cov(R', d)| <= the same with x and y exchanged;   |cov(e, d)| <= sqrt(E D)
        var R' <= var R <= var R' + E;   var S' <= var S <= var S' + D

    The bound is what follows for cov(R, S) / sqrt(var R var S). It holds for any order of the values within their bins, and
    so is far larger than what is found: nearly all of it cancels.
    """
    share = counts / counts.sum()
    _, x = np.unique(cells >> (8 + Y_BITS), return_inverse=True)
    _, y = np.unique(cells & ((1 << (8 + Y_BITS)) - 1), return_inverse=True)
    p, q = np.bincount(x, share), np.bincount(y, share)
    if len(p) < 2 or len(q) < 2:  # all in one bin: its rank is the mean, but for rounding
        return float("nan"), float("nan")
    R, S = np.cumsum(p) - p / 2 - 0.5, np.cumsum(q) - q / 2 - 0.5
    var_R, var_S = float(p @ R**2), float(q @ S**2)
    scale = np.sqrt(var_R * var_S)
    rho = float(share @ (R[x] * S[y]) / scale)
    E, D = float((p**3).sum() / 12), float((q**3).sum() / 12)
    within = (p * p) @ _deviation(x, S[y], share, p) + (q * q) @ _deviation(y, R[x], share, q)
    covariance = within / np.sqrt(12) + np.sqrt(E * D)
    variance = 1 - scale / np.sqrt((var_R + E) * (var_S + D))
    return rho, float(min(abs(rho) * variance + covariance / scale, 1 + abs(rho)))


def _deviation(bin_of: Numbers, ranks: Numbers, share: Numbers, of_bin: Numbers) -> Numbers:
    """The standard deviation of the other side's ranks in each bin."""
    mean = np.bincount(bin_of, share * ranks) / of_bin
    return np.sqrt(np.bincount(bin_of, share * (ranks - mean[bin_of]) ** 2) / of_bin)


def spearman_of_pairs(x: Numbers, y: Numbers) -> float:
    """Spearman's rho, equal values at their average rank; not a number where one side has a single value."""
    # In float64: from scipy 1.18 on, ranks have the type of what is ranked.
    R, S = (stats.rankdata(side.astype(np.float64)) - (len(side) + 1) / 2 for side in (x, y))
    scale = np.sqrt((R @ R) * (S @ S))
    return float(R @ S / scale) if scale > 0 else float("nan")


class RankSketch:
    """Pairs of non-negative float32 numbers. Exact up to LIMIT pairs; then some megabytes, however many there are."""

    def __init__(self) -> None:
        self.count = 0
        self._pairs: list[Numbers] = []  # (pair, 2) each, until there are too many
        self._cells: Numbers = np.zeros(0, np.int32)  # sorted
        self._counts: Numbers = np.zeros(0, np.int64)
        self._waiting: list[Numbers] = []  # cells that are not yet counted

    def add(self, x: Numbers, y: Numbers) -> None:
        """Add pairs: two arrays of one shape."""
        pairs = np.stack([np.ravel(x), np.ravel(y)], 1).astype(np.float32)
        if not (pairs >= 0).all():
            raise InputError("A rank sketch takes numbers that are not negative; some are, or are no numbers.")
        self.count += len(pairs)
        self._pairs.append(pairs)
        self._turn()

    def add_cells(self, cells: Numbers, counts: Numbers) -> None:
        """Add pairs that are counted already, by cell: only for more than LIMIT in all, with what is here."""
        self.count += int(counts.sum())
        if self.count <= LIMIT:
            raise ValueError(f"Up to {LIMIT} pairs are kept as pairs: add them, not their cells.")
        self._turn()
        self._count(cells, counts)

    def merge(self, other: RankSketch) -> None:
        """Add the pairs of another sketch."""
        self.count += other.count
        self._pairs += other._pairs
        self._waiting += other._waiting
        self._turn()
        if len(other._cells):
            self._count(other._cells, other._counts)

    def _turn(self) -> None:
        """From pairs to cells, where there are too many."""
        if self.count <= LIMIT:
            return
        self._waiting += [cells_of(pairs[:, 0], pairs[:, 1]) for pairs in self._pairs]
        self._pairs = []
        if sum(map(len, self._waiting)) > WAITING:
            self._count(np.zeros(0, np.int32), np.zeros(0, np.int64))

    def _count(self, cells: Numbers, counts: Numbers) -> None:
        """Add cells with their counts, and those that wait."""
        waiting, each = np.unique(np.concatenate([np.zeros(0, np.int32), *self._waiting]), return_counts=True)
        self._waiting = []
        joined = np.concatenate([self._cells, waiting, cells])
        amounts = np.concatenate([self._counts, each, counts])
        if len(joined):
            order = np.argsort(joined, kind="stable")  # parts that are sorted are merged in linear time
            joined, amounts = joined[order], amounts[order]
            first = np.flatnonzero(np.diff(joined, prepend=-1))
            self._cells, self._counts = joined[first], np.add.reduceat(amounts, first)

    def state(self) -> dict[str, Numbers]:
        """Plain arrays: `pairs` (pair, 2), or `cells` and their `counts`; sorted, so the same for the same pairs."""
        if self._waiting:
            self._count(np.zeros(0, np.int32), np.zeros(0, np.int64))
        pairs = np.concatenate([np.zeros((0, 2), np.float32), *self._pairs])
        smallest = np.min_scalar_type(self._counts.max(initial=0))
        return {
            "pairs": pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))],
            "cells": self._cells,
            "counts": self._counts.astype(smallest),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Numbers]) -> RankSketch:
        sketch = cls()
        sketch._pairs = [state["pairs"]]
        sketch._cells, sketch._counts = state["cells"], state["counts"].astype(np.int64)
        sketch.count = len(state["pairs"]) + int(sketch._counts.sum())
        return sketch

    def spearman(self) -> tuple[float, float]:
        """Spearman's rho and a bound of its error: 0 where the pairs are kept. Not numbers where one side never changes."""
        state = self.state()
        if len(state["cells"]):
            return spearman_of_cells(state["cells"], state["counts"].astype(np.float64))
        rho = spearman_of_pairs(state["pairs"][:, 0], state["pairs"][:, 1])
        return rho, 0.0 if np.isfinite(rho) else float("nan")


def arrays_of(sketches: Mapping[str, RankSketch]) -> dict[str, Numbers]:
    """The state of a statistic whose sums are sketches, by name: `sketches_in` makes them again."""
    return {f"{name} {part}": array for name, sketch in sketches.items() for part, array in sketch.state().items()}


def sketches_in(arrays: Mapping[str, Numbers]) -> dict[str, RankSketch]:
    parts: dict[str, dict[str, Numbers]] = {}
    for name, array in arrays.items():
        sketch, space, part = name.rpartition(" ")
        if space:  # else it is of no sketch
            parts.setdefault(sketch, {})[part] = array
    return {name: RankSketch.from_state(state) for name, state in parts.items()}
