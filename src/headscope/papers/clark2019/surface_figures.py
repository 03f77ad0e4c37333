"""Figures 1, 2 and 4 in the paper's form; layers and heads count from 1 there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from headscope import colours
from headscope.heads.patterns import NONE
from headscope.study.results import figures

PATTERN_COLOURS = {
    "previous token": colours.BLUE,
    "next token": colours.VERMILION,
    "current token": colours.YELLOW,
    "first token": colours.ORANGE,
    "separator": colours.GREEN,
    "period or comma": colours.PINK,
    "broad": colours.SKY,
    NONE: colours.PALE,
}


def patterns(named: pd.DataFrame) -> Figure:
    """Every head as a square in the colour of its pattern, with the share in percent."""
    layers, heads = int(named["layer"].max()) + 1, int(named["head"].max()) + 1
    made, axes = figures.figure(width=max(colours.COLUMN, 0.28 * heads + 1.6), height=0.22 * layers + 0.8)
    (panel,) = axes.flat
    for head in named.itertuples():
        colour = PATTERN_COLOURS[head.pattern]
        panel.add_patch(_square(head.head + 1, head.layer + 1, colour))
        if head.pattern != NONE:
            ink = "white" if colour in (colours.BLUE, colours.VERMILION, colours.GREEN) else colours.INK
            percent = f"{100 * head.share:.0f}"
            panel.text(head.head + 1, head.layer + 1, percent, ha="center", va="center", fontsize=6, color=ink)
    panel.set(xlim=(0.4, heads + 0.6), ylim=(layers + 0.6, 0.4), xlabel="Head", ylabel="Layer")
    panel.set_xticks(range(1, heads + 1))
    panel.set_yticks(range(1, layers + 1))
    for spine in panel.spines.values():
        spine.set_visible(False)
    panel.tick_params(length=0)
    present = [name for name in PATTERN_COLOURS if (named["pattern"] == name).any()]
    handles = [_square(0, 0, PATTERN_COLOURS[name], label="no pattern" if name == NONE else name) for name in present]
    beside: dict[str, Any] = {"ncols": 1, "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    figures.legend(panel, handles=handles, handlelength=1, handleheight=1, **beside)
    return made


def _square(x: float, y: float, colour: str, label: str = "") -> Rectangle:
    return Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, facecolor=colour, edgecolor="none", label=label)


def figure2(table: pd.DataFrame, first: str, separator: str) -> Figure:
    """Above: attention to special tokens and punctuation; below: from separators and from others to separators."""
    has_separators = table["from_separator"].notna().any()
    made, axes = figures.figure(2 if has_separators else 1, height=4.2 if has_separators else 2.2)
    upper, layers = axes[0, 0], int(table["layer"].max()) + 1
    figures.heads_by_layer(upper, table["layer"], table["first token"], first, colours.BLUE, -0.12)
    if has_separators:
        figures.heads_by_layer(upper, table["layer"], table["separator"], separator, colours.VERMILION)
    figures.heads_by_layer(upper, table["layer"], table["period or comma"], ". or ,", colours.GREEN, 0.12)
    panels = [upper]
    if has_separators:
        lower = axes[1, 0]
        to = f"→ {separator}"
        figures.heads_by_layer(lower, table["layer"], table["from_separator"], f"{separator} {to}", colours.VERMILION, -0.08)
        figures.heads_by_layer(lower, table["layer"], table["from_others"], f"other {to}", colours.SKY, 0.08)
        panels.append(lower)
    for panel in panels:
        figures.layer_axis(panel, layers)
        panel.set_ylabel("Avg. attention")
        panel.set_ylim(bottom=-0.02)
        figures.legend(panel)
    return made


def figure4(table: pd.DataFrame, ends: str, of_ends: str) -> Figure:
    """Entropy of all rows, and of one end of the text, beside that of uniform attention."""
    made, axes = figures.figure(2, height=4.2, sharex=True)
    panels = (("entropy", "uniform", "all tokens"), (f"{ends}_token_entropy", f"{ends}_token_uniform", f"from {of_ends}"))
    for panel, (column, uniform, label) in zip(axes.flat, panels, strict=True):
        figures.heads_by_layer(panel, table["layer"], table[column], f"heads, {label}", colours.BLUE)
        height = float(np.nanmean(table[uniform]))
        panel.axhline(height, color=colours.FAINT, linewidth=1, linestyle="--", label="uniform attention")
        figures.layer_axis(panel, int(table["layer"].max()) + 1)
        panel.set_ylabel("Avg. entropy (nats)")
        panel.set_ylim(0, 1.06 * max(height, float(np.nanmax(table[column]))))
        figures.legend(panel)
    axes[0, 0].set_xlabel("")
    return made
