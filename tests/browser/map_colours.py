"""The colours of scores as numpy has them: what web/src/drawing/colours.ts must draw on a light page."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SCORES = [(255, 255, 255), (191, 217, 235), (95, 164, 208), (0, 114, 178), (0, 40, 63)]
ABOVE = [(255, 255, 255), (127, 184, 220), (0, 114, 178), (0, 40, 63)]
BELOW = [(255, 255, 255), (247, 178, 127), (213, 94, 0), (107, 46, 0)]
DARK_GROUND = (20, 24, 29)


def sequential(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """(...,) from 0 to 1 -> (..., 3)"""
    return _through(SCORES, shares)


def diverging(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """(...,) from -1 to 1 -> (..., 3)"""
    return np.where(shares[..., None] < 0, _through(BELOW, -shares), _through(ABOVE, shares))


def _through(stops: list[tuple[int, int, int]], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    places = np.linspace(0, 1, len(stops))
    return np.stack([np.interp(shares, places, [stop[part] for stop in stops]) for part in range(3)], -1)
