"""Attention maps side by side, each with its head, what that head does, and how well (clark2019, figures 1 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from headscope.study.results.result import paper_label
from headscope.text import Document
from headscope.views.print import Panel as MapPanel
from headscope.views.print import Shown
from headscope.views.print import draw_panels as draw_maps


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
    """As wide as a page, each map below its head and what that does."""
    labels = [f"Head {paper_label(panel.layer, panel.head)}" for panel in panels]
    maps = [MapPanel(panel.found, label, panel.says, panel.marked) for panel, label in zip(panels, labels, strict=True)]
    return draw_maps(maps, columns, "clark2019")


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
