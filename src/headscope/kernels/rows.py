"""All sums over the keys of a row, and all over the rows of a key, in one sweep over a map."""

from __future__ import annotations

import numpy as np

from headscope.kernels.compiling import SINGLE, WHOLE, compiled
from headscope.kernels.elementary import LOG_2, xlog2x
from headscope.kernels.zeros import up_to_last

# What the sweep finds of every row, for each factor: s is a score times the factor of its key.
FIELDS = BEYOND_FIRST, INFORMED, INFORMED_BEYOND_SINKS, BEYOND_SINKS, LARGEST, SPANNED = range(6)

_F, _I = np.float32, np.int32
_NATS = _F(LOG_2)


@compiled(WHOLE, WHOLE, SINGLE[3], SINGLE[2], SINGLE[3], SINGLE[3], WHOLE, SINGLE[4], SINGLE[2])
def sweep_rows(
    first: int,
    last: int,
    scores: np.ndarray,  # map row key
    kept: np.ndarray,  # text key: 1 for keys that are no sinks, else 0
    factors: np.ndarray,  # factor map key
    logarithms: np.ndarray,  # factor map key: f log2 f
    start: int,  # the place of the first row in its text
    found: np.ndarray,  # factor field map row
    received: np.ndarray,  # map key
) -> None:
    """FIELDS of every row by every factor, and what each key receives (without factors), of the maps first:last.

    Scores and factors are not negative. A factor whose logarithms begin with a NaN is 1 everywhere. Sums over all
    keys leave the first one out: who wants it, adds it. With s = a f, s log s = f (a log a) + a (f log f), so that one
    logarithm serves all factors.
    """
    maps, rows, keys = scores.shape
    texts = kept.shape[0]
    informed = np.empty(keys, _F)
    got = np.empty(keys, np.float64)
    places = np.arange(keys).astype(_F)
    for one in range(first, last):
        sinkless = kept[one // (maps // texts)]
        got[:] = 0
        for row in range(rows):
            seen = up_to_last(scores[one, row])
            a = scores[one, row, :seen]
            place = _F(start + row)
            for key in range(seen):
                informed[key] = xlog2x(a[key])
            for key in range(seen):
                got[key] += a[key]
            for factor in range(factors.shape[0]):
                f, g = factors[factor, one], logarithms[factor, one]
                total, whole, spanned = _F(0), _F(0), _F(0)
                left, rest = a[0] * f[0] * sinkless[0], informed[0] * f[0] * sinkless[0]
                largest = _F(a[0] * f[0]).view(np.int32)
                if np.isnan(g[0]):
                    for key in range(1, seen):
                        s, t, k = a[key], informed[key], sinkless[key]
                        total += s
                        whole += t
                        left += s * k
                        rest += t * k
                        spanned += s * abs(places[key] - place)
                    for key in range(1, seen):  # bits are in the order of their numbers, if these are not negative
                        largest = max(largest, _F(a[key]).view(np.int32))
                else:
                    rest += a[0] * g[0] * sinkless[0]
                    for key in range(1, seen):
                        s, k = a[key] * f[key], sinkless[key]
                        t = informed[key] * f[key] + a[key] * g[key]
                        total += s
                        whole += t
                        left += s * k
                        rest += t * k
                        spanned += s * abs(places[key] - place)
                    for key in range(1, seen):
                        largest = max(largest, _F(a[key] * f[key]).view(np.int32))
                here = found[factor, :, one, row]
                here[BEYOND_FIRST], here[INFORMED], here[INFORMED_BEYOND_SINKS] = total, whole * _NATS, rest * _NATS
                here[BEYOND_SINKS], here[LARGEST], here[SPANNED] = left, _I(largest).view(np.float32), spanned
        for key in range(keys):
            received[one, key] = got[key]
