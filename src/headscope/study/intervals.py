"""Confidence intervals for any statistic: resample the shards, and recompute the columns from the sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headscope.statistics.base import Array, Statistic

RESAMPLES = 1000
LEVEL = 0.95
CHUNK = 50  # resamples at a time


def intervals(statistic: Statistic, shards: Sequence[dict[str, Array]], seed: int = 0) -> dict[str, tuple[Array, Array]]:
    """For each column its (low, high) per head. Not a number with fewer than two shards."""
    merged = statistic.columns(statistic.state)
    if len(shards) < 2:
        return {name: (np.full(column.shape, np.nan), np.full(column.shape, np.nan)) for name, column in merged.items()}
    names = sorted(statistic.state)
    stacked = {
        name: np.stack([fields.get(name, np.zeros_like(statistic.state[name])) for fields in shards]) for name in names
    }
    draws = np.random.default_rng(seed).multinomial(len(shards), np.full(len(shards), 1 / len(shards)), size=RESAMPLES)
    found: dict[str, list[Array]] = {name: [] for name in merged}
    for start in range(0, RESAMPLES, CHUNK):
        some = draws[start : start + CHUNK].astype(np.float64)
        resampled = {name: np.einsum("rs,s...->r...", some, stacked[name]) for name in names}
        for name, column in statistic.columns(resampled).items():
            found[name].append(column)
    tails = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    result = {}
    for name, parts in found.items():
        low, high = np.quantile(np.concatenate(parts), tails, axis=0)
        result[name] = (low, high)
    return result
