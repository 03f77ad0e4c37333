"""draw_panels: several attention maps on one page, each with a heading and what it shows (clark2019, figures 1 and 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from headscope.colours import FAINT
from headscope.views.print.columns import Box, column_height
from headscope.views.print.header import LINE, SMALL, wrapped
from headscope.views.print.maps import draw_map
from headscope.views.print.sheet import FULL, MARGIN, Sheet
from headscope.views.print.shown import Shown

GAP = 0.16  # inches between maps


@dataclass(frozen=True)
class Panel:
    """One head on one text."""

    found: Shown  # as map_of gives it
    title: str
    says: Sequence[str] = ()  # below the title
    marked: Sequence[int] = ()  # places of the tokens whose attention is coloured

    @property
    def height(self) -> float:
        """Inches that its map takes."""
        return column_height(len(self.found.queries), len(self.found.keys)) + 0.04


def draw_panels(panels: Sequence[Panel], columns: int, title: str = "") -> Figure:
    """As wide as a page; each row of maps is as tall as its longest text."""
    width = (FULL - 2 * MARGIN - GAP * (columns - 1)) / columns
    rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    above = [max(len(_lines(panel, width)) for panel in row) * LINE + LINE + 0.08 for row in rows]
    below = LINE if any(panel.found.hidden > 0 for panel in panels) else 0.0
    heights = [one + max(panel.height for panel in row) + below + 0.14 for one, row in zip(above, rows, strict=True)]
    sheet = Sheet(FULL, MARGIN + sum(heights), title)
    for line, row in enumerate(rows):
        top = MARGIN + sum(heights[:line])
        for column, panel in enumerate(row):
            box = Box(MARGIN + column * (width + GAP), top + above[line], width)
            _write_head(sheet, panel, box.left, top, width)
            asked = np.isin(np.arange(len(panel.found.queries)), list(panel.marked))
            draw_map(sheet, box, panel.found, asked, np.zeros(len(panel.found.keys), dtype=bool))
            if panel.found.hidden > 0:
                note = f"{100 * panel.found.hidden:.0f}% is on {panel.found.sinks}, not shown"
                sheet.text(box.left, box.top + panel.height + LINE / 2, note, 5.8, color=FAINT)
    return sheet.figure


def _lines(panel: Panel, width: float) -> list[str]:
    return [line for sentence in panel.says for line in wrapped([sentence], width + 2 * MARGIN)]


def _write_head(sheet: Sheet, panel: Panel, left: float, top: float, width: float) -> None:
    sheet.text(left, top + LINE / 2, panel.title, 7.5, weight="bold")
    for place, line in enumerate(_lines(panel, width), 1):
        sheet.text(left, top + LINE * (place + 0.5), line, SMALL, color=FAINT)
