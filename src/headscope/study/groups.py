"""Groups of documents, which intervals draw again: who is in which depends on places in the corpus alone, not on shards.

A corpus of up to 40 documents has a group for each; a larger one has between 21 and 40 groups of consecutive documents. So
their number is bounded, whatever the corpus. A batch never mixes groups: more of them make intervals a little steadier, and
studies of a thousand short texts slower (32 groups by a fifth, 64 by half).
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from headscope.statistics.base import Array
from headscope.statistics.kit.resampling import LEVEL, RESAMPLES

GROUPS = 40  # at the most
ENOUGH = 10  # simulated intervals have the truth in them 93 times of 100 with 30 groups, 90 with 10, but 85 with 5

Item = TypeVar("Item")


def group_size(documents: int) -> int:
    """How many documents are in a group of a corpus of `documents`.

    >>> [group_size(documents) for documents in (1, 40, 41, 1000, 1_000_000)]
    [1, 1, 2, 25, 25000]
    """
    return -(-documents // GROUPS)


def grouped(documents: Sequence[Item], start: int, size: int) -> dict[int, list[Item]]:
    """By group, some documents of a corpus, of which the first is at place `start`.

    >>> grouped(["c", "d", "e", "f"], start=2, size=3)
    {0: ['c'], 1: ['d', 'e', 'f']}
    """
    groups: dict[int, list[Item]] = {}
    for place, document in enumerate(documents, start):
        groups.setdefault(place // size, []).append(document)
    return groups


def stacked(states: Sequence[dict[str, Array]]) -> dict[str, Array]:
    """The sums of several groups as one array a name, (group, ...); zero where a group has not met a name."""
    names = {name: sums for state in states for name, sums in state.items()}
    return {name: np.stack([state.get(name, np.zeros_like(sums)) for state in states]) for name, sums in names.items()}


def describe(groups: int, size: int) -> dict[str, Any]:
    """What a manifest says of the intervals of a study with `groups` groups of `size` documents."""
    return {"level": LEVEL, "resamples": RESAMPLES, "groups": groups, "documents_a_group": size}


def explain(about: dict[str, Any]) -> str:
    """The same as a sentence.

    >>> explain(describe(30, 1))
    '_low and _high are 95 % intervals: the 30 documents drawn again with replacement, 1,000 times.'
    >>> explain(describe(40, 5))
    '_low and _high are 95 % intervals: 40 groups of 5 consecutive documents drawn again with replacement, 1,000 times.'
    """
    groups, size = about["groups"], about["documents_a_group"]
    if groups < 2:
        return "_low and _high are empty: intervals need at least two documents."
    drawn = f"the {groups} documents" if size == 1 else f"{groups} groups of {size:,} consecutive documents"
    few = f" With fewer than {ENOUGH} they are too narrow." if groups < ENOUGH else ""
    level, times = f"{100 * about['level']:.0f} %", f"{about['resamples']:,} times"
    return f"_low and _high are {level} intervals: {drawn} drawn again with replacement, {times}.{few}"
