"""Is a figure legible? Which of its texts stand over each other, and which stick out of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from headscope.study.results import figures

TOUCHING = 0.5  # points that two boxes may share: letters do not fill theirs


def boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """Every text that is seen, and where, in points. On many dots, since letters on few are wider than in print."""
    figure.set_dpi(300)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    scale, hidden = 72 / figure.dpi, _unseen(figure)
    seen = []
    for text in figure.findobj(Text):
        if not text.get_text().strip() or not text.get_visible() or text in hidden:
            continue
        box = Text.get_window_extent(text, canvas.get_renderer())  # an annotation's own has its arrow too
        seen.append((text.get_text(), Bbox(box.get_points() * scale)))
    return seen


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts of which one covers a part of the other."""
    found = []
    for (one, first), (other, second) in combinations(boxes(figure), 2):
        both = Bbox.intersection(first, second)
        if both is not None and both.width > TOUCHING and both.height > TOUCHING:
            found.append((one, other))
    return found


def clipped(figure: Figure) -> list[str]:
    """Texts that are not whole on the figure."""
    width, height = 72 * figure.get_size_inches()
    return [
        text
        for text, box in boxes(figure)
        if box.x0 < -TOUCHING or box.y0 < -TOUCHING or box.x1 > width + TOUCHING or box.y1 > height + TOUCHING
    ]


def said(figure: Figure) -> str:
    """What stands below a figure: the model, and the texts."""
    return " ".join(text.get_text().replace("\n", " ") for text in figure.texts if text.get_gid() == "said")


@contextmanager
def kept() -> Iterator[dict[str, Figure]]:
    """The figures that are written meanwhile, by name."""
    made: dict[str, Figure] = {}
    save = figures.save

    def keep(figure: Figure, stem: Path) -> list[Path]:
        made[stem.name] = figure
        return save(figure, stem)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "save", keep)
        yield made


def _unseen(figure: Figure) -> set[Text]:
    """Labels of ticks beyond the ends of an axis, and of hidden axes: matplotlib keeps them, and draws none."""
    hidden: set[Text] = set()
    for axes in figure.findobj(Axes):
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            slack = 1e-6 * (high - low)
            for tick in (*axis.majorTicks, *axis.minorTicks):
                seen = axes.axison and tick.get_visible() and low - slack <= tick.get_loc() <= high + slack
                hidden |= set() if seen and axes.get_visible() else {tick.label1, tick.label2}
        if not axes.get_visible():
            hidden |= set(axes.findobj(Text))
    return hidden
