"""A uniform sample of pairs that can be merged in any order: each pair has a random priority, and the smallest are kept.

A text has millions of pairs, so that their priorities are not all drawn. Let every pair wait an exponentially distributed
time: M pairs together are then visited M times as often as one, each visit at a pair drawn uniformly, and the time of the
first visit to a pair is its own waiting time. So a few visits to M pairs give those with the smallest priorities, exactly,
and a text with twice the pairs is visited twice as often.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

VISITS = 64  # to the pairs of one text, site and category; a corpus of a few texts gets a sample smaller than asked for

Numbers = NDArray[Any]


def visits(seeds: Numbers, pairs: Numbers) -> tuple[Numbers, Numbers]:
    """(group,) seeds and numbers of pairs -> the times of the first visits to pairs, and which pairs: (group, visit) each.

    A time is infinite where a pair was visited before, or where there is none.
    """
    numbers = hashed(seeds[:, None] + np.arange(2 * VISITS, dtype=np.uint64) * _STEP)
    uniform = ((numbers >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
    many = np.maximum(pairs, 1)[:, None]
    times = np.cumsum(-np.log(uniform[:, :VISITS]), axis=1) / many
    chosen = (uniform[:, VISITS:] * many).astype(np.int64)
    times[_met_before(chosen) | (pairs == 0)[:, None]] = np.inf
    return times, chosen


def seeds_of(*parts: Numbers | int) -> Numbers:
    """A 64-bit seed of some numbers that are broadcast together: the same for the same numbers, whatever else there is."""
    seed = np.zeros(1, np.uint64)
    for part in parts:
        seed = hashed(seed * np.uint64(3) + np.asarray(part).astype(np.uint64) * _STEP)
    return seed


_STEP = np.uint64(0x9E3779B97F4A7C15)  # odd: what counts in steps of it meets every 64-bit number


def hashed(numbers: Numbers) -> Numbers:
    """The mixing function of SplitMix64 (Steele, Lea and Flood 2014): uint64 in, as good as random uint64 out."""
    with np.errstate(over="ignore"):
        mixed = numbers + _STEP
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def smallest(rows: Numbers, size: int) -> Numbers:
    """Of (item, column) rows the `size` whose first column is smallest, in its order; ties by the other columns."""
    order = np.argsort(rows[:, 0], kind="stable")
    if not np.diff(rows[order, 0]).all():
        order = np.lexsort(rows.T[::-1])
    return rows[order[:size]]


def _met_before(chosen: Numbers) -> Numbers:
    """True where a row has the same number further left."""
    order = np.argsort(chosen, axis=1, kind="stable")
    ranked = np.take_along_axis(chosen, order, 1)
    again = np.zeros(chosen.shape, bool)
    np.put_along_axis(again, order[:, 1:], ranked[:, 1:] == ranked[:, :-1], 1)
    return again
