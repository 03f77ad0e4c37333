"""Pairs of a weight and a key counted by cell: a shift, a sum and an increment each."""

from __future__ import annotations

import numpy as np

from headscope.kernels.compiling import INTS, WHOLE, compiled


@compiled(INTS[3], INTS[2], WHOLE, WHOLE, WHOLE, INTS[1])
def count_pairs(
    x: np.ndarray,  # map row key: the bits of weights
    base: np.ndarray,  # map key: where the cells of each key begin in the table, less the lowest bin
    shift: int,
    lowest: int,
    highest: int,
    table: np.ndarray,  # flat: counts, added to
) -> None:
    """Of all maps: they meet in one table, so that threads cannot share the work."""
    maps, rows, keys = x.shape
    places = np.empty(keys, np.int32)
    for one in range(maps):
        for row in range(rows):
            for key in range(keys):
                places[key] = min(max(x[one, row, key] >> shift, lowest), highest) + base[one, key]
            for key in range(keys):
                table[places[key]] += 1
