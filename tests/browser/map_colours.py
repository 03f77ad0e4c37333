"""The colours of scores as numpy has them: what web/src/drawing/colours.ts must draw on a light page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headscope.colours import ABOVE, BELOW, SCORES

DARK_GROUND = (20, 24, 29)


def sequential(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """(...,) from 0 to 1 -> (..., 3)"""
    return _through(SCORES, shares)


def diverging(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """(...,) from -1 to 1 -> (..., 3)"""
    return np.where(shares[..., None] < 0, _through(BELOW, -shares), _through(ABOVE, shares))


def rgb(colour: str) -> tuple[int, int, int]:
    """
    >>> rgb("#0072B2")
    (0, 114, 178)
    """
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def _through(stops: Sequence[str], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    places = np.linspace(0, 1, len(stops))
    return np.stack([np.interp(shares, places, [rgb(stop)[part] for stop in stops]) for part in range(3)], -1)
