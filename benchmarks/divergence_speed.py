"""Jensen-Shannon divergences of all pairs of heads against a loop over the pairs, for one text at BERT-base's shape."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from benchmarks.timing import alternate, as_ratios
from headscope.statistics.between_heads.jensen_shannon import map_divergences

HEADS, LENGTH = 144, 128
SAME = 1e-4  # relative; times are compared only where the numbers agree
REPEATS = 3  # at most: a loop takes several seconds
TEXTS = 5  # in a row, for what takes a fraction of a second; a text's time is the mean
OURS, LOOP, HALF, SINGLE = "headscope", "numpy loop, all i and j", "numpy loop, i < j", "numpy loop in float32, all i and j"

Maps = NDArray[np.floating]


def divergence_speed(settings: Settings) -> list[Row]:
    """JS between all pairs of 144 heads, one text of 128 tokens: matrix products against a double loop over the heads."""
    maps = sample_maps(*((6, 16) if settings.quick else (HEADS, LENGTH)))
    double, single = maps.double().numpy(), maps.numpy()
    np.testing.assert_allclose(map_divergences(maps)[0], pairwise_loop(double), rtol=SAME, atol=1e-12)
    things = {
        OURS: lambda: [map_divergences(maps) for _ in range(TEXTS)],
        LOOP: lambda: pairwise_loop(double),
        HALF: lambda: pairwise_loop(double, ordered=True),
        SINGLE: lambda: pairwise_loop(single),
    }
    seconds = alternate(things, min(settings.repeats, REPEATS))
    seconds[OURS] = [taken / TEXTS for taken in seconds[OURS]]
    return as_ratios(seconds, OURS, {LOOP: Target(">=", 80)})


def sample_maps(heads: int, length: int) -> Tensor:
    """Heads from nearly uniform to nearly one key a row, that share some of what they look at; the last two are twins."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(heads, length, length, generator=generator) + torch.randn(length, length, generator=generator)
    logits *= torch.logspace(-1, 1, heads)[:, None, None]
    logits[-1] = logits[-2] + 0.02 * torch.randn(length, length, generator=generator)
    return logits.softmax(-1)


def pairwise_loop(maps: Maps, ordered: bool = False) -> Maps:
    """The textbook: for every two heads (head, row, key), two Kullback-Leibler sums against their mean."""
    found = np.zeros((len(maps), len(maps)))
    for i, one in enumerate(maps):
        for j, other in enumerate(maps):
            if not ordered or i < j:
                mean = (one + other) / 2
                found[i, j] = (_kullback_leibler(one, mean) + _kullback_leibler(other, mean)) / 2
    return found


def _kullback_leibler(rows: Maps, means: Maps) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rows > 0, rows * np.log(rows / means), 0).sum()
