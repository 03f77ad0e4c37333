"""softmax(s scaling + mask) of rows: everything that is done to a row while it is near the processor."""

from __future__ import annotations

import numpy as np

from headscope.kernels.compiling import REAL, SINGLE, WHOLE, compiled
from headscope.kernels.elementary import exp2

_F, _I = np.float32, np.int32
_LOG2_E = _F(1.4426950408889634)
_LEAST = _F(-126)  # 2^-126 is the smallest normal number: below it is nothing
_BUT_SIGN = _I(0x7FFFFFFF)


@compiled(WHOLE, WHOLE, SINGLE[3], WHOLE, REAL, SINGLE[2], SINGLE[3], WHOLE, WHOLE)
def softmax_rows(
    first: int,
    last: int,
    scores: np.ndarray,  # head row key: the keys before `seen` become weights
    seen: int,
    scaling: float,
    mask: np.ndarray,  # row key: what is added to the scores of the last keys before `seen`
    shown: np.ndarray,  # head row key: where the weights are shown, 0 for keys from `seen` on
    start: int,  # the first of its rows that are written
    apart: int,  # whether `shown` is another array than `scores`
) -> None:
    """Of the rows first:last of all heads together."""
    rows, keys = mask.shape[0], shown.shape[2]
    masked = seen - mask.shape[1]
    factor = _F(scaling)
    for one in range(first, last):
        head, row = one // rows, one % rows
        s, added, weights = scores[head, row, :seen], mask[row], shown[head, start + row]
        for key in range(seen):
            s[key] *= factor
        part = s[masked:]
        for key in range(seen - masked):
            part[key] += added[key]
        largest = _I(-0x80000000)
        for key in range(seen):  # bits are in the order of their numbers, if those of negative ones are turned around
            bits = _F(s[key]).view(np.int32)
            largest = max(largest, _I(bits ^ ((bits >> _I(31)) & _BUT_SIGN)))
        most = _I(largest ^ ((largest >> _I(31)) & _BUT_SIGN)).view(np.float32)
        total = _F(0)
        for key in range(seen):
            power = (s[key] - most) * _LOG2_E
            value = _F(0) if power < _LEAST else exp2(power)
            s[key] = value
            total += value
        inverse = _F(1) / total
        for key in range(seen):
            s[key] *= inverse
        if apart:
            weights[:seen] = s
        unseen = weights[seen:]
        for key in range(keys - seen):
            unseen[key] = 0
