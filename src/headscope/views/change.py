"""How much a head has changed from one reading to another: the mean distance between its rows in both."""

import numpy as np
from numpy.typing import NDArray

from headscope.views.content import Array

Mask = NDArray[np.bool_]


def change(first: Array, second: Array, rows: Mask, sinks: Mask | None = None) -> Array:
    """(head, query, key) of both between the same tokens -> (head,): 0 where nothing has changed, 1 where no row has
    anything in common with what it was.

    The mean over `rows` (query) of the total variation distance 1/2 sum_j |b_ij - a_ij|, each row divided by its sum. With
    `sinks` (key) all of them count as one key: what moves from one to another is no change. Rows that look at one key only,
    in every head of both, have no choice and are not counted; where none is left, nothing is known (not a number).

    >>> before = np.array([[[1.0, 0.0, 0.0], [0.5, 0.25, 0.25]]], dtype=np.float32)
    >>> after = np.array([[[1.0, 0.0, 0.0], [0.0, 0.75, 0.25]]], dtype=np.float32)
    >>> change(before, after, np.array([True, True]))
    array([0.5], dtype=float32)
    """
    counted = rows & (_has_choice(first) | _has_choice(second))
    if not counted.any():
        return np.full(len(first), np.nan, dtype=np.float32)
    one, other = (_as_shares(scores[:, counted], sinks) for scores in (first, second))
    return np.asarray(np.abs(other - one).sum(-1).mean(-1) / 2, dtype=np.float32)


def _has_choice(scores: Array) -> Mask:
    """(query): where some head looks at two keys at least."""
    return np.asarray(((scores != 0).sum(-1) > 1).any(0), dtype=np.bool_)


def _as_shares(scores: Array, sinks: Mask | None) -> NDArray[np.float64]:
    """Each row divided by its sum, without signs; sinks together at the end."""
    sizes = np.abs(scores).astype(np.float64)
    if sinks is not None and sinks.any():
        sizes = np.concatenate([sizes[..., ~sinks], sizes[..., sinks].sum(-1, keepdims=True)], -1)
    totals = sizes.sum(-1, keepdims=True)
    return np.asarray(sizes / np.where(totals > 0, totals, 1), dtype=np.float64)
