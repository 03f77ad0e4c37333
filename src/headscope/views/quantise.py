"""Scores as bytes: 256 levels a head, so that no score is off by more than 1/255 of its head's largest.

A weight and a norm share one byte. The norm of a pair is its weight times ||f(x_j)||, so a weight that is kept to
1/255 of the head's largest weight may give a norm that is far off where the value vector is long. The step between
two levels is therefore chosen for each key: min(largest weight, largest norm / ||f(x_j)||) / 255. No weight of that key
is above 255 steps, and both the weight and the norm are off by at most half of 1/255 of their head's largest.

Sinks get most of what many heads give, and are left out of most pictures of a decoder: their keys have a scale apart, so
that all levels are there for the other keys, down to half of 1/255 of the largest of these.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headscope.views.content import Array

LEVELS = 255
Apart = NDArray[np.bool_] | None  # key: those that have a scale of their own


@dataclass(frozen=True)
class Quantised:
    """score = (level - zero) * step; zero is the level of the score 0."""

    levels: NDArray[np.uint8]  # head query key
    steps: Array  # head key, or head 1
    zeros: NDArray[np.uint8]  # head

    def scores(self) -> Array:
        """What a page makes of the bytes: (head, query, key)."""
        return (self.levels.astype(np.float32) - self.zeros[:, None, None]) * self.steps[:, None, :]


def quantise(scores: Array, apart: Apart = None) -> Quantised:
    """(head, query, key) -> bytes. The score 0 stays exactly 0, also between negative ones, which have one scale a head.

    >>> quantise(np.array([[[0.0, 0.2, 1.0]]], dtype=np.float32)).levels
    array([[[  0,  51, 255]]], dtype=uint8)
    """
    most = scores.max((1, 2), initial=0)
    least = scores.min((1, 2), initial=0)
    if apart is not None and not least.any():
        of_keys = np.asarray(_largest(scores.max(1, initial=0), apart) / LEVELS, dtype=np.float32)
        none = np.zeros(len(scores), dtype=np.uint8)
        return Quantised(_levels(scores, of_keys, none), of_keys, none)
    steps = (most - least) / LEVELS
    zeros = np.rint(-least / _not_zero(steps)).astype(np.uint8)  # both ends are then within half a step of a level
    return Quantised(_levels(scores, steps[:, None], zeros), steps[:, None].astype(np.float32), zeros)


def quantise_with_norms(weights: Array, value_norms: Array, apart: Apart = None) -> Quantised:
    """(head, query, key) weights and (head, key) norms of what they multiply -> bytes that keep both."""
    of_keys = weights.max(1, initial=0)
    most_weight, most_norm = _largest(of_keys, apart), _largest(of_keys * value_norms, apart)
    with np.errstate(over="ignore"):  # a vector of almost no length: the weight alone sets the step
        steps = np.minimum(most_weight, most_norm / _not_zero(value_norms)) / LEVELS
    steps = np.where(value_norms > 0, steps, most_weight / LEVELS)
    zeros = np.zeros(len(weights), dtype=np.uint8)
    return Quantised(_levels(weights, steps, zeros), steps.astype(np.float32), zeros)


def error(scores: Array, kept: Array) -> float:
    """The largest difference, as a part of the largest score of its head."""
    most = np.abs(scores).max((1, 2), initial=0)
    return float((np.abs(scores - kept).max((1, 2), initial=0) / _not_zero(most)).max(initial=0))


def _largest(of_keys: Array, apart: Apart) -> Array:
    """(head, key) -> (head, key): the largest of all keys, or of those on the same scale."""
    if apart is None:
        return np.broadcast_to(of_keys.max(1, initial=0, keepdims=True), of_keys.shape)
    found = np.empty_like(of_keys)
    for keys in (apart, ~apart):
        found[:, keys] = of_keys[:, keys].max(1, initial=0, keepdims=True)
    return found


def _levels(scores: Array, steps: Array, zeros: NDArray[np.uint8]) -> NDArray[np.uint8]:
    rounded = np.rint(scores / _not_zero(steps)[:, None, :]) + zeros[:, None, None]
    return np.clip(rounded, 0, LEVELS).astype(np.uint8)


def _not_zero(numbers: Array) -> Array:
    """Divisors: 1 where there is nothing to divide."""
    return np.where(numbers == 0, 1, numbers)
