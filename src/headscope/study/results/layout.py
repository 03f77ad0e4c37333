"""A layout that is the same every time: matplotlib's constrained one, to nine digits.

Its solver keeps what it solves in the order of memory addresses, so the last bits of the places it finds change from one
drawing to the next, and with them the names of clip paths in an SVG, which are hashes of these numbers.
"""

from __future__ import annotations

from typing import Any

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

DIGITS = 9  # of a place in a figure, which is 1 wide and 1 high: a billionth of it nobody sees


class SteadyLayout(ConstrainedLayoutEngine):
    """Where axes stand does not depend on where they lie in memory."""

    def execute(self, fig: Any) -> Any:
        found = super().execute(fig)
        for axes in fig.axes:
            laid_out = axes.get_in_layout()
            place = axes.get_position(original=True).bounds
            axes.set_position([round(part, DIGITS) for part in place])
            axes.set_in_layout(laid_out)  # or it would be left out of the layout from now on
        return found


def lay_out(figure: Figure) -> None:
    """Put everything in its place, as it is when the figure is written as an SVG, without drawing it."""
    engine = figure.get_layout_engine()
    if engine is None:
        return
    canvas, dpi = figure.canvas, figure.dpi
    try:
        FigureCanvasSVG(figure)  # letters are as wide as there
        figure.set_dpi(FigureCanvasSVG.fixed_dpi)
        engine.execute(figure)
    finally:
        figure.set_canvas(canvas)
        figure.set_dpi(dpi)
