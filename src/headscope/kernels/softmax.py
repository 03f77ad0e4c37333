"""softmax(s scaling + mask) of rows, where they are: one sweep while a row is near the processor."""

from __future__ import annotations

import numpy as np

from headscope.kernels.compiling import REAL, SINGLE, WHOLE, compiled
from headscope.kernels.elementary import exp2

_F = np.float32
_LOG2_E = _F(1.4426950408889634)
_LEAST = _F(-126)  # 2^-126 is the smallest normal number: below it is nothing


@compiled(WHOLE, WHOLE, SINGLE[3], WHOLE, REAL, SINGLE[2])
def softmax_rows(
    first: int,
    last: int,
    scores: np.ndarray,  # head row key: of each row, the keys before `seen` are scores; they become weights, the others 0
    seen: int,
    scaling: float,
    mask: np.ndarray,  # row key: what is added to the scores of the keys from seen - len(key) on
) -> None:
    """Of the rows first:last of all heads together."""
    _, rows, keys = scores.shape
    masked = seen - mask.shape[1]
    factor = _F(scaling)
    for place in range(first, last):
        row = scores[place // rows, place % rows]
        added = mask[place % rows]
        for key in range(seen):
            row[key] *= factor
        for key in range(masked, seen):
            row[key] += added[key - masked]
        largest = row[0]
        for key in range(1, seen):
            largest = row[key] if row[key] > largest else largest
        total = _F(0)
        for key in range(seen):
            power = (row[key] - largest) * _LOG2_E
            row[key] = _F(0) if power < _LEAST else exp2(power)
        for key in range(seen):
            total += row[key]
        inverse = _F(1) / total
        for key in range(seen):
            row[key] *= inverse
        for key in range(seen, keys):
            row[key] = 0
