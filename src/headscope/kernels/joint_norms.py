"""sqrt(a^T K_j a) for every row and key, with a the weights of all heads: 78 products a pair for 12 heads, none kept."""

from __future__ import annotations

import numpy as np

from headscope.kernels.compiling import SINGLE, WHOLE, compiled

KEYS = 128  # at a time: their inner products stay near the processor from row to row

_F = np.float32


@compiled(WHOLE, WHOLE, SINGLE[4], SINGLE[4], SINGLE[3])
def sum_jointly(
    first: int,
    last: int,
    weights: np.ndarray,  # text head row key
    grams: np.ndarray,  # head head text key
    found: np.ndarray,  # text row key
) -> None:
    """Of the rows first:last of all texts together."""
    _, heads, rows, keys = weights.shape
    squared, others = np.empty(KEYS, _F), np.empty(KEYS, _F)
    for start in range(0, keys, KEYS):
        count = min(KEYS, keys - start)
        for place in range(first, last):
            text, row = place // rows, place % rows
            squared[:] = 0
            for head in range(heads):
                a = weights[text, head, row, start : start + count]
                for key in range(count):
                    squared[key] += abs(a[key])
            total = _F(0)
            for key in range(count):
                total += squared[key]
            if total == 0:  # nobody looks there: later keys of a decoder
                found[text, row, start : start + count] = 0
                continue
            squared[:] = 0
            for head in range(heads):
                a = weights[text, head, row, start : start + count]
                others[:] = 0
                other = head + 1
                while other + 4 <= heads:  # four at a time: their sum is read and written once
                    b0, b1 = weights[text, other, row, start:], weights[text, other + 1, row, start:]
                    b2, b3 = weights[text, other + 2, row, start:], weights[text, other + 3, row, start:]
                    g0, g1 = grams[head, other, text, start:], grams[head, other + 1, text, start:]
                    g2, g3 = grams[head, other + 2, text, start:], grams[head, other + 3, text, start:]
                    for key in range(count):
                        others[key] += b0[key] * g0[key] + b1[key] * g1[key] + b2[key] * g2[key] + b3[key] * g3[key]
                    other += 4
                while other < heads:
                    b0, g0 = weights[text, other, row, start:], grams[head, other, text, start:]
                    for key in range(count):
                        others[key] += b0[key] * g0[key]
                    other += 1
                g = grams[head, head, text, start : start + count]
                for key in range(count):
                    squared[key] += a[key] * (a[key] * g[key] + _F(2) * others[key])
            for key in range(count):
                found[text, row, start + key] = np.sqrt(max(squared[key], _F(0)))
