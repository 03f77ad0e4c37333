"""Confidence intervals for any statistic: resample groups of documents, and recompute the columns from the sums."""

from collections.abc import Sequence

import numpy as np

from headscope.statistics.base import Array, Statistic
from headscope.statistics.kit.resampling import resampled, small_sample_tail
from headscope.study.groups import stacked


def intervals(statistic: Statistic, groups: Sequence[dict[str, Array]], seed: int = 0) -> dict[str, tuple[Array, Array]]:
    """For each column its (low, high) per head. Not a number with fewer than two groups."""
    if len(groups) < 2:
        columns = statistic.columns(statistic.state)
        return {name: (np.full(column.shape, np.nan), np.full(column.shape, np.nan)) for name, column in columns.items()}
    return resampled(stacked(groups), statistic.columns, seed=seed, tail=small_sample_tail(len(groups)))
