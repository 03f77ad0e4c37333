"""What need not be summed: the keys at a row's end that it gives nothing, such as all later ones in a decoder."""

from __future__ import annotations

import numpy as np

from headscope.kernels.compiling import compiled

STEP = 32  # keys that are looked at together


@compiled()
def up_to_last(row: np.ndarray) -> int:
    """How many keys there are up to the last that is not 0, in steps: (key,) -> at least that many, and at least one."""
    seen = len(row)
    while seen > STEP:
        some, bits = row[seen - STEP : seen].view(np.int32), np.int32(0)
        for key in range(STEP):
            bits |= some[key]
        if bits != 0:
            break
        seen -= STEP
    return seen
