"""Confidence intervals for any statistic: resample the shards, and recompute the columns from the sums."""

from collections.abc import Sequence

import numpy as np

from headscope.statistics.base import Array, Statistic
from headscope.statistics.kit.resampling import resampled


def intervals(statistic: Statistic, shards: Sequence[dict[str, Array]], seed: int = 0) -> dict[str, tuple[Array, Array]]:
    """For each column its (low, high) per head. Not a number with fewer than two shards."""
    if len(shards) < 2:
        columns = statistic.columns(statistic.state)
        return {name: (np.full(column.shape, np.nan), np.full(column.shape, np.nan)) for name, column in columns.items()}
    stacked = {
        name: np.stack([fields.get(name, np.zeros_like(sums)) for fields in shards])
        for name, sums in sorted(statistic.state.items())
    }
    return resampled(stacked, statistic.columns, seed=seed)
