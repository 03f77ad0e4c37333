"""draw_panels: several attention maps on one page, each with a heading and what it shows (clark2019, figures 1 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headscope.colours import FAINT
from headscope.later import Figure
from headscope.views.content import Array
from headscope.views.print.columns import Box, column_height
from headscope.views.print.header import LINE, SMALL, wrapped
from headscope.views.print.maps import draw_map
from headscope.views.print.sheet import FULL, MARGIN, Sheet, fitted
from headscope.views.print.shown import Mask, Shown

GAP = 0.16  # inches between maps
NOTE = 5.8  # points of what stands below one
THIN = 0.6
BEHIND = 0.4  # of its darkness has a line that is behind those in colour


@dataclass(frozen=True)
class Panel:
    """One head on one text."""

    found: Shown  # as map_of gives it
    title: str
    says: Sequence[str] = ()  # below the title
    asked: Sequence[int] = ()  # places of tokens that are asked which other they look at: bold, and their lines in colour
    coloured: Mask | None = None  # (query, key): what is in colour where nothing is asked, before all else, which is faint
    below: str = ""  # where the text is from, in small type

    @property
    def height(self) -> float:
        """Inches that its map takes."""
        return column_height(len(self.found.queries), len(self.found.keys)) + 0.04

    @property
    def rows(self) -> Mask:
        return np.isin(np.arange(len(self.found.queries)), list(self.asked))

    @property
    def lines(self) -> Mask:
        """(query, key): which are in colour."""
        among = np.zeros(self.found.scores.shape[1:], dtype=bool) if self.coloured is None else self.coloured
        return among | self.rows[:, None]

    @property
    def shares(self) -> Array:
        """How dark lines are: (1, query, key). Of a token that is asked, parts of its own largest, itself left aside.

        As a part of the head's largest, the line to what it looks at most may be too faint to see.
        """
        shares = self.found.shares.copy()
        if self.coloured is not None:
            shares[:, ~self.lines] *= BEHIND
        places = np.array(self.found.queries.places)[:, None] != np.array(self.found.keys.places)
        others = np.abs(self.found.scores) * places
        largest = others.max(-1, keepdims=True)
        own = np.divide(others, largest, out=np.zeros_like(others), where=largest > 0)
        shares[:, self.rows] = own[:, self.rows]
        return shares

    def notes(self, width: float) -> list[str]:
        """What stands below the map, as there is room for it: of a name, its end tells it from others."""
        hidden = f"{100 * self.found.hidden:.0f}% is on {self.found.sinks}, not shown" if self.found.hidden > 0 else ""
        said = fitted(hidden, NOTE, width), fitted(self.below[::-1], NOTE, width)[::-1]
        return [note for note in said if note]


def draw_panels(panels: Sequence[Panel], columns: int, title: str = "") -> Figure:
    """As wide as a page; each row of maps is as tall as its longest text."""
    width = (FULL - 2 * MARGIN - GAP * (columns - 1)) / columns
    rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    above = [max(len(_lines(panel, width)) for panel in row) * LINE + LINE + 0.08 for row in rows]
    heights = [
        one + max(panel.height + LINE * len(panel.notes(width)) for panel in row) + 0.14
        for one, row in zip(above, rows, strict=True)
    ]
    sheet = Sheet(FULL, MARGIN + sum(heights), title)
    for line, row in enumerate(rows):
        top = MARGIN + sum(heights[:line])
        for column, panel in enumerate(row):
            box = Box(MARGIN + column * (width + GAP), top + above[line], width)
            _write_head(sheet, panel, box.left, top, width)
            bold = panel.rows, np.zeros(len(panel.found.keys), dtype=bool)
            # All of a head's lines to one token would be a wedge of ink if they were as thick as the few of a word.
            draw_map(sheet, box, panel.found, bold, panel.lines, shares=panel.shares, scale=1 if panel.asked else THIN)
            for place, note in enumerate(panel.notes(width)):
                sheet.text(box.left, box.top + panel.height + LINE * (place + 0.5), note, NOTE, color=FAINT)
    return sheet.figure


def _lines(panel: Panel, width: float) -> list[str]:
    return [line for sentence in panel.says for line in wrapped([sentence], width + 2 * MARGIN)]


def _write_head(sheet: Sheet, panel: Panel, left: float, top: float, width: float) -> None:
    sheet.text(left, top + LINE / 2, panel.title, 7.5, weight="bold")
    for place, line in enumerate(_lines(panel, width), 1):
        sheet.text(left, top + LINE * (place + 0.5), line, SMALL, color=FAINT)
