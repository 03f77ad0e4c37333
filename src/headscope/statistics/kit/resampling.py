"""The bootstrap of sums: an interval of what follows from them, when the parts of a corpus are drawn again."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
) -> dict[str, tuple[Array, Array]]:
    """(low, high) at 95 % of all that `derive` makes of sums, when as many parts are drawn with replacement.

    parts: (part, ...) each, by name; derive: sums (resample, ...) by name -> quantities (resample, ...) by name
    """
    count = len(next(iter(parts.values())))
    random, alike = np.random.default_rng(seed), np.full(count, 1 / count)
    found: list[Mapping[str, Array]] = []
    for start in range(0, resamples, CHUNK):
        draws = random.multinomial(count, alike, size=min(CHUNK, resamples - start)).astype(np.float64)
        found.append(derive({name: np.einsum("rs,s...->r...", draws, part) for name, part in parts.items()}))
    tails = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    every = {name: np.concatenate([some[name] for some in found]) for name in found[0]}
    return {name: tuple(np.quantile(values, tails, axis=0)) for name, values in every.items()}
