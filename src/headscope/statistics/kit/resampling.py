"""The bootstrap of sums: an interval of what follows from them, when the parts of a corpus are drawn again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.later import stats

RESAMPLES = 1000
LEVEL = 0.95
CHUNK = 50  # resamples at a time

Array = NDArray[Any]


def resampled(
    parts: Mapping[str, Array],
    derive: Callable[[dict[str, Array]], Mapping[str, Array]],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    tail: float = (1 - LEVEL) / 2,
) -> dict[str, tuple[Array, Array]]:
    """(low, high) of all that `derive` makes of sums, when as many parts are drawn with replacement; `tail` is left out
    on either side: 2.5 %, or what `small_sample_tail` says of few parts.

    parts: (part, ...) each, by name; derive: sums (resample, ...) by name -> quantities (resample, ...) by name
    """
    count = len(next(iter(parts.values())))
    random, alike = np.random.default_rng(seed), np.full(count, 1 / count)
    found: list[Mapping[str, Array]] = []
    for start in range(0, resamples, CHUNK):
        draws = random.multinomial(count, alike, size=min(CHUNK, resamples - start)).astype(np.float64)
        found.append(derive({name: np.einsum("rs,s...->r...", draws, part) for name, part in parts.items()}))
    every = {name: np.concatenate([some[name] for some in found]) for name in found[0]}
    return {name: tuple(np.quantile(values, (tail, 1 - tail), axis=0)) for name, values in every.items()}


def small_sample_tail(parts: int) -> float:
    """What to leave out on either side for 95 % when the parts are few: the bootstrap of n parts is too narrow by the factor
    sqrt((n - 1) / n), and by what Student's distribution has beyond the normal one (Hesterberg, 2015, expanded percentiles).

    >>> [round(small_sample_tail(parts), 4) for parts in (5, 30, 64, 10_000)]
    [0.001, 0.0188, 0.022, 0.025]
    """
    return float(stats.norm.sf(np.sqrt(parts / (parts - 1)) * stats.t.isf((1 - LEVEL) / 2, parts - 1)))
