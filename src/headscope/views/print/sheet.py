"""Sheet: paper to draw on, measured in inches from its top left corner, so that every view decides its own size."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from headscope.colours import ABOVE, BELOW, INK, SCORES
from headscope.later import Figure, Rectangle, matplotlib
from headscope.lens.tokens.labels import visible
from headscope.views.print.fonts import font

FULL = 7.0  # inches: both columns of a two-column paper
MARGIN = 0.06
TALLEST = 195.0  # inches: PDF allows 200
POINT = 1 / 72
Place = tuple[float, float, float, float]  # left, top, width, height
_SIGNED = (*reversed(BELOW), *ABOVE[1:])  # on white paper, as SCORES for those without signs


class Sheet:
    """One figure with one pair of axes that covers it; x goes right, y goes down, both in inches."""

    def __init__(self, width: float, height: float, title: str = "") -> None:
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width, height), facecolor="white")
        self.figure.suppressComposite = True  # images stay as many pixels as they have numbers
        self.figure.set_label(printable(title))
        self.axes: Any = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_axis_off()
        self.axes.set(xlim=(0, width), ylim=(height, 0), autoscale_on=False)

    def text(
        self, x: float, y: float, label: str, size: float = 7, *, weight: str = "normal", **options: Any
    ) -> matplotlib.text.Text:
        """A label with its middle at y. It is never read as mathematics: a token may well be $, _ or \\."""
        shown = printable(label)
        placed = {"ha": "left", "va": "center_baseline", "color": INK, **options}
        return self.axes.text(x, y, shown, fontproperties=font(shown, size, weight), parse_math=False, **placed)

    def frame(self, box: Place, colour: str, width: float) -> None:
        """A thin line around a part of the sheet, above what is drawn in it."""
        left, top, wide, tall = box
        line = Rectangle((left, top), wide, tall, facecolor="none", edgecolor=colour, linewidth=width, zorder=3)
        self.axes.add_patch(line)

    def image(self, numbers: ArrayLike, box: Place, most: float, signed: bool) -> matplotlib.image.AxesImage:
        """A heat map with one pixel a number, its first row at the top; from 0, or where signed from -most, to most."""
        left, top, width, height = box
        drawn: matplotlib.image.AxesImage = self.axes.imshow(
            np.asarray(numbers),
            cmap=matplotlib.colors.LinearSegmentedColormap.from_list("scores", _SIGNED if signed else SCORES),
            vmin=-most if signed else 0.0,
            vmax=most,
            extent=(left, left + width, top + height, top),
            aspect="auto",
            origin="upper",
            interpolation="none",
        )
        self.axes.set(xlim=(0, self.width), ylim=(self.height, 0))  # imshow moves them
        return drawn


def printable(label: str) -> str:
    """A label that can stand in a file of text: XML has no characters without a meaning, nor controls.

    >>> printable("a\\uffffb"), printable("\\x07"), printable("$x_1$")
    ('a<U+FFFF>b', '␇', '$x_1$')
    """
    shown = visible(label) if label else ""
    return "".join(f"<U+{ord(one):04X}>" if _means_nothing(ord(one)) else one for one in shown)


def _means_nothing(code: int) -> bool:
    """Unicode's noncharacters, which may stand in no XML."""
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


@lru_cache(maxsize=100_000)
def width_of(label: str, size: float, weight: str = "normal") -> float:
    """How wide a label is, in inches."""
    shown = printable(label)
    if not shown:
        return 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that no font here has is as wide as its box
        measured = matplotlib.textpath.text_to_path
        width, _, _ = measured.get_text_width_height_descent(shown, font(shown, size, weight), ismath=False)
    return float(width) * POINT


def fitted(label: str, size: float, room: float, weight: str = "normal") -> str:
    """The label, or as much of its beginning as there is room for (in inches).

    >>> fitted("short", 7, 1.0), fitted("a" * 80, 7, 0.5).endswith("…")
    ('short', True)
    """
    shown = printable(label)
    if width_of(shown, size, weight) <= room:
        return shown
    some = shown
    while len(some) > 1 and width_of(some + "…", size, weight) > room:
        some = some[: max(1, min(len(some) - 1, int(len(some) * room / width_of(some + "…", size, weight))))]
    return some + "…"
