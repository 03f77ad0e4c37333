"""The sums over positions that Jensen-Shannon divergences of heads are made of."""

from __future__ import annotations

import numpy as np

from headscope.kernels.compiling import DOUBLE, LONGS, SINGLE, WHOLE, compiled
from headscope.kernels.elementary import xlog2x

POSITIONS = 512  # at a time: those of all heads stay near the processor
SUMMED = 128  # of them in float32; their sums are added up in float64. How many positions there are must be a multiple of it

_F = np.float32
_TINY = _F(1e-30)


@compiled(WHOLE, WHOLE, SINGLE[2], DOUBLE[2])
def sum_together(first: int, last: int, maps: np.ndarray, found: np.ndarray) -> None:
    """s log2 s with s = p + q, summed over all positions, for every pair of heads: (head, position) -> (head, head).

    Pairs of a head with itself and with later ones; of entries first:last, each of which is a head from the one end or the
    other, so that threads have as many pairs each.
    """
    heads, positions = maps.shape
    for start in range(0, positions, POSITIONS):
        stop = min(start + POSITIONS, positions)
        for entry in range(first, last):
            one = entry // 2 if entry % 2 == 0 else heads - 1 - entry // 2
            p = maps[one, start:stop]
            for other in range(one, heads):
                q = maps[other, start:stop]
                total = np.float64(0)
                for part in range(0, stop - start, SUMMED):
                    a, b = p[part : part + SUMMED], q[part : part + SUMMED]  # indices from 0 on need no look at their sign
                    some = _F(0)
                    for place in range(SUMMED):
                        some += xlog2x(a[place] + b[place])
                    total += some
                found[one, other] += total


@compiled(WHOLE, WHOLE, LONGS[1], LONGS[1], SINGLE[2], DOUBLE[1])
def sum_closely(first: int, last: int, ones: np.ndarray, others: np.ndarray, maps: np.ndarray, found: np.ndarray) -> None:
    """The divergences of some pairs of heads in nats, however small: of ones[first:last] with others[first:last].

    With s = p + q and r = (p - q) / s, a position has s / 2 g(r): g(r) is ((1 + r) log(1 + r) + (1 - r) log(1 - r)) / 2 and,
    for small r, r^2/2 + r^4/12 + r^6/30 + ..., in which nothing cancels.
    """
    positions = maps.shape[1]
    for pair in range(first, last):
        p, q = maps[ones[pair]], maps[others[pair]]
        total = np.float64(0)
        for start in range(0, positions, SUMMED):
            a, b = p[start : start + SUMMED], q[start : start + SUMMED]
            some = _F(0)
            for place in range(SUMMED):
                s = a[place] + b[place]
                inverse = _F(1) / (s + _TINY)
                r = (a[place] - b[place]) * inverse
                u = r * r
                few = _F(1 / 380) * u + _F(1 / 306)
                few = few * u + _F(1 / 240)
                few = few * u + _F(1 / 182)
                few = few * u + _F(1 / 132)
                few = few * u + _F(1 / 90)
                few = few * u + _F(1 / 56)
                few = few * u + _F(1 / 30)
                few = few * u + _F(1 / 12)
                few = (few * u + _F(1 / 2)) * u
                far = (xlog2x(_F(2) * a[place] * inverse) + xlog2x(_F(2) * b[place] * inverse)) * _F(0.34657359027997264)
                some += s * (few if u < _F(0.25) else far)
            total += some
        found[pair] = total / 2
