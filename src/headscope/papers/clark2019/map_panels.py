"""Attention maps side by side, each with its head, what that head does, and how well (clark2019, figures 1 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from headscope.colours import FAINT
from headscope.study.results.result import paper_label
from headscope.text import Document
from headscope.views.print.columns import Box, column_height
from headscope.views.print.header import LINE, SMALL, wrapped
from headscope.views.print.sheet import FULL, MARGIN, Sheet
from headscope.views.print.shown import Shown
from headscope.views.print.words import draw_map

GAP = 0.16  # inches between maps


@dataclass(frozen=True)
class Panel:
    """One head on one text."""

    name: str  # the pattern or relation
    layer: int
    head: int
    value: float  # its share, or its accuracy
    says: Sequence[str]  # what stands above the map
    found: Shown
    marked: Sequence[int]  # places of the words whose attention is coloured
    document: Document

    @property
    def marked_text(self) -> str:
        """The text with the marked words in **bold**."""
        labels = enumerate(self.found.queries.labels)
        return " ".join(f"**{label}**" if place in self.marked else label for place, label in labels)


def draw_panels(panels: Sequence[Panel], columns: int) -> Figure:
    """As wide as a page; each row of maps is as tall as its longest text."""
    width = (FULL - 2 * MARGIN - GAP * (columns - 1)) / columns
    rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    above = [max(len(_lines(panel, width)) for panel in row) * LINE + LINE + 0.08 for row in rows]
    maps = [max(column_height(len(panel.found.queries), len(panel.found.keys)) for panel in row) + 0.04 for row in rows]
    below = LINE if any(panel.found.hidden > 0 for panel in panels) else 0.0
    heights = [one + other + below + 0.14 for one, other in zip(above, maps, strict=True)]
    sheet = Sheet(FULL, MARGIN + sum(heights), "clark2019")
    for line, row in enumerate(rows):
        top = MARGIN + sum(heights[:line])
        for column, panel in enumerate(row):
            left = MARGIN + column * (width + GAP)
            _write_head(sheet, panel, left, top, width)
            asked = np.isin(np.arange(len(panel.found.queries)), list(panel.marked))
            nothing = np.zeros(len(panel.found.keys), dtype=bool)
            draw_map(sheet, Box(left, top + above[line], width), panel.found, asked, nothing)
            if panel.found.hidden > 0:
                bottom = top + above[line] + column_height(len(panel.found.queries), len(panel.found.keys)) + 0.04
                note = f"{100 * panel.found.hidden:.0f}% is on special tokens, not shown"
                sheet.text(left, bottom + LINE / 2, note, 5.8, color=FAINT)
    return sheet.figure


def pairs_drawn(panels: Sequence[Panel]) -> pd.DataFrame:
    """One row for every pair of words in every map."""
    parts = []
    for panel in panels:
        found = panel.found
        rows, columns = np.indices(found.scores.shape[1:]).reshape(2, -1)
        parts.append(
            pd.DataFrame(
                {
                    "name": panel.name,
                    "stack": found.attention.stack,
                    "kind": found.attention.kind,
                    "layer": panel.layer,
                    "head": panel.head,
                    "source": panel.document.name,
                    "row": rows,
                    "key": columns,
                    "attending": [found.queries.labels[row] for row in rows],
                    "attended": [found.keys.labels[column] for column in columns],
                    "score": found.scores[0].ravel(),
                    "marked": np.isin(rows, list(panel.marked)),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _lines(panel: Panel, width: float) -> list[str]:
    return [line for sentence in panel.says for line in wrapped([sentence], width + 2 * MARGIN)]


def _write_head(sheet: Sheet, panel: Panel, left: float, top: float, width: float) -> None:
    sheet.text(left, top + LINE / 2, f"Head {paper_label(panel.layer, panel.head)}", 7.5, weight="bold")
    for place, line in enumerate(_lines(panel, width), 1):
        sheet.text(left, top + LINE * (place + 0.5), line, SMALL, color=FAINT)
