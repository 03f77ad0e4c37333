"""From pieces to words, on plain arrays: attention to a word is the sum over its pieces, from it the mean."""

from collections.abc import Sequence

import numpy as np

from headscope.views.content import Array


def merge_pieces(scores: Array, query_words: Sequence[int], key_words: Sequence[int]) -> Array:
    """(..., query piece, key piece) -> (..., query word, key word); which word each piece belongs to, from 0 on.

    >>> merge_pieces(np.array([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]], dtype=np.float32), [0, 1, 1], [0, 1, 1])
    array([[0.5, 0.5],
           [0. , 1. ]], dtype=float32)
    """
    pieces = np.bincount(np.asarray(query_words))[:, None]
    return np.asarray(_summed(_summed(scores, key_words, -1), query_words, -2) / pieces, dtype=np.float32)


def _summed(scores: Array, words: Sequence[int], axis: int) -> Array:
    """Sums over the pieces of each word. The pieces of one need not stand together, so they are put in order first."""
    order = np.argsort(words, kind="stable")
    starts = np.searchsorted(np.asarray(words)[order], np.arange(max(words) + 1))
    return np.add.reduceat(scores.take(order, axis), starts, axis)
