"""Figures 7, 8 and 16 to 24: error rates of layers and heads, and alignments of sentences word by word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headscope import colours
from headscope.alignment.tables import MEASURES
from headscope.later import Figure, Rectangle, matplotlib, pd
from headscope.papers.kobayashi2020.alignment.matrices import Pairing
from headscope.papers.kobayashi2020.drawings import NORM, WEIGHT, ticks_from_one, written
from headscope.statistics.alignment.sides import NO_LINK
from headscope.study.results import figures

SETTINGS = {"AWO": "With the output word (AWO)", "AWI": "With the input word (AWI)"}
# Light is low, as in the paper: the lighter, the better.
LINES = {"weight": (f"weight {WEIGHT}", colours.VERMILION), "norm": (f"norm {NORM}", colours.BLUE)}
SMALLEST, LARGEST = 0.16, 0.24  # inches for a word
MEANT = 12  # layers beyond which numbers do not fit


def by_layer(layers: pd.DataFrame) -> Figure:
    """Figures 16 and 24: AER of layers, by weight and by norm, in both settings; means over models."""
    count = int(layers["layer"].max()) + 1
    wide = max(1.6 * colours.COLUMN, 0.95 + 0.36 * min(count, 24))
    made, axes = figures.figure(2, 1, width=wide, height=2.5)
    for panel, (setting, title) in zip(axes.flat, SETTINGS.items(), strict=True):
        of_setting = layers[layers["setting"] == setting]
        values = of_setting.pivot_table(index="measure", columns="layer", values="aer").loc[list(MEASURES)]
        cells = 100 * values.to_numpy(dtype=float)
        image = _cells(panel, cells, title, vmax=100)
        panel.set_yticks(range(2), ["Weight", "Norm"])
        _layer_ticks(panel.xaxis, count)
        if count <= MEANT:
            _numbers(panel, cells)
    axes[-1, 0].set_xlabel("Layer")
    figures.colour_scale(image, list(axes.flat), "AER (%)")
    return made


def lines(layers: pd.DataFrame, headline: str) -> Figure:
    """Beyond the paper: the same as lines, with the interval of one model; means over several."""
    count, one_model = int(layers["layer"].max()) + 1, layers["model"].nunique() == 1
    made, axes = figures.figure(1, 2, width=2 * colours.COLUMN, height=3.1, sharey=True)
    for panel, setting in zip(axes.flat, ("AWI", "AWO"), strict=True):
        of_setting, best = layers[layers["setting"] == setting], []
        for measure, (label, colour) in LINES.items():
            of_measure = of_setting[of_setting["measure"] == measure]
            mean = 100 * of_measure.groupby("layer")["aer"].mean()
            panel.plot(mean.index + 1, mean, color=colour, linewidth=1.6, marker="o", markersize=4, label=label)
            if one_model:
                low, high = (100 * of_measure[end].to_numpy(dtype=float) for end in ("low", "high"))
                panel.fill_between(mean.index + 1, low, high, color=colour, alpha=0.18, linewidth=0)
            best.append(f"{mean.min():.1f} by {measure}")
        panel.set_title(SETTINGS[setting], fontsize=8, fontweight="bold", loc="left", pad=16)
        below = {"xytext": (0, 5), "textcoords": "offset points", "fontsize": 7.5, "color": colours.FAINT}
        panel.annotate(f"best layer: {', '.join(best)}", (0, 1), xycoords="axes fraction", **below)
        figures.layer_axis(panel, count)
        panel.set_ylim(0, 102)
        panel.set_yticks(range(0, 101, 20))
        panel.grid(axis="y", color=colours.PALE, linewidth=0.6)
        panel.set_axisbelow(True)
    axes[0, 0].set_ylabel("Alignment error rate (%)")
    made.suptitle(headline, x=0.01, ha="left", fontsize=11, fontweight="bold", color=colours.INK)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    made.legend(handles, labels, loc="outside lower right", ncols=2, fontsize=7.5, frameon=False)
    return made


def by_head(heads: pd.DataFrame) -> Figure:
    """Figures 8 and 23: AER of heads by norm in both settings, and how much a head brings on average."""
    layers = int(heads["layer"].max()) + 1
    made, axes = figures.figure(1, 3, width=2.1 * colours.COLUMN, height=0.75 + 0.19 * max(layers, 6))
    panels = (("aer_AWI", "AER (%), AWI", 100), ("aer_AWO", "AER (%), AWO", 100), ("mean_norm", f"Average {NORM}", 1))
    for panel, (column, title, unit) in zip(axes.flat, panels, strict=True):
        values = unit * figures.head_grid(heads, column)
        image = _cells(panel, values, title, vmax=100 if unit == 100 else None)
        _layer_ticks(panel.yaxis, values.shape[0])
        _layer_ticks(panel.xaxis, values.shape[1])
        panel.set_xlabel("Head")
        figures.colour_scale(image, [panel])
    axes[0, 0].set_ylabel("Layer")
    return made


def matrices(pairings: Sequence[Pairing], layer: int) -> Figure:
    """Figures 7 and 17 to 22: the reference, and a layer's alignment by weight and by norm; a row for each sentence."""
    wide = max(len(one.columns) for one in pairings)
    beside, below = (_room([one.rows for one in pairings]), _room([one.columns for one in pairings]))
    cell = min(max((2 * colours.COLUMN - beside - 0.6) / (3 * wide), SMALLEST), LARGEST)
    rows = [len(one.rows) for one in pairings]
    width, height = 3 * (cell * wide + 0.2) + beside, sum(cell * count + 0.4 + below for count in rows)
    alike = {"height_ratios": rows}  # cells of one size, whatever the sentence
    made, axes = figures.figure(len(pairings), 3, width=width, height=height, gridspec_kw=alike)
    for row, one in zip(axes, pairings, strict=True):
        _reference(row[0], one)
        for panel, measure, sign in zip(row[1:], MEASURES, (WEIGHT, NORM), strict=True):
            scores = one.scores[measure][layer]
            panel.imshow(scores, cmap=_inked(), vmin=0, vmax=max(float(scores.max()), 1e-12), interpolation="nearest")
            panel.set_title(sign, fontsize=8, fontweight="bold", loc="left", pad=3)
            _words(panel, one, rows=False)
            for target in range(len(one.rows)):
                _frame(panel, one, measure, layer, target)
        for panel in row:
            panel.set_xlim(-0.5, wide - 0.5)
            panel.set_anchor("NW")
    return made


def _reference(panel: Any, one: Pairing) -> None:
    """Sure links are dark, those that are only possible are light."""
    cells = np.zeros((len(one.rows), len(one.columns)))
    for links, depth in ((one.gold.possible, 0.35), (one.gold.sure, 1.0)):
        for source, target in links:
            if target < cells.shape[0] and source < cells.shape[1]:
                cells[target, source] = depth
    panel.imshow(cells, cmap=_inked(), vmin=0, vmax=1, interpolation="nearest")
    panel.set_title(f"Pair {one.number}: reference", fontsize=8, fontweight="bold", loc="left", pad=3)
    _words(panel, one, rows=True)


def _frame(panel: Any, one: Pairing, measure: str, layer: int, target: int) -> None:
    """Around a row's highest score: green where the reference has the link, red where not, grey where it is no link."""
    column = int(one.chosen[measure][layer, target])
    if column == NO_LINK:
        return
    colour = colours.FAINT
    if one.is_link(measure, layer, target):
        colour = colours.GREEN if (column, target) in one.gold.possible else colours.VERMILION
    place = (column - 0.42, target - 0.42)
    panel.add_patch(Rectangle(place, 0.84, 0.84, fill=False, edgecolor=colour, linewidth=1.4, joinstyle="miter"))


def _words(panel: Any, one: Pairing, *, rows: bool) -> None:
    panel.set_xticks(range(len(one.columns)), [written(word) for word in one.columns], rotation=90, fontsize=6.5)
    panel.set_yticks(range(len(one.rows)), [written(word) if rows else "" for word in one.rows], fontsize=6.5)
    _bare(panel)
    rows_end, columns_end = len(one.rows) - 0.5, len(one.columns) - 0.5
    panel.vlines(np.arange(len(one.columns) + 1) - 0.5, -0.5, rows_end, color=colours.PALE, linewidth=0.4)
    panel.hlines(np.arange(len(one.rows) + 1) - 0.5, -0.5, columns_end, color=colours.PALE, linewidth=0.4)


def _room(sides: Sequence[Sequence[str]]) -> float:
    """Inches for the longest word of some sentences."""
    return 0.055 * min(max(len(word) for side in sides for word in side), 24)


def _numbers(panel: Any, cells: np.ndarray) -> None:
    for (row, column), value in np.ndenumerate(cells):
        if np.isfinite(value):
            ink = "white" if value > 55 else colours.INK
            panel.text(column, row, f"{value:.1f}", ha="center", va="center", fontsize=6.5, color=ink)


def _cells(panel: Any, values: np.ndarray, title: str, vmax: float | None) -> Any:
    """A table of colours from 0 on, with thin lines between the cells."""
    image = panel.imshow(values, cmap=_inked(), vmin=0, vmax=vmax, aspect="auto", interpolation="nearest")
    panel.set_title(title, fontsize=8, fontweight="bold", loc="left", pad=3)
    panel.set_yticks(np.arange(values.shape[0] + 1) - 0.5, minor=True)
    panel.set_xticks(np.arange(values.shape[1] + 1) - 0.5, minor=True)
    panel.grid(which="minor", color="white", linewidth=0.8)
    panel.tick_params(which="both", length=0)
    _bare(panel)
    return image


def _layer_ticks(axis: Any, size: int) -> None:
    """From 1, as the paper counts."""
    ticks_from_one(axis, size, step=1 if size <= 12 else 4)


def _bare(panel: Any) -> None:
    panel.tick_params(length=0, labelsize=6.5)
    panel.spines[:].set_visible(False)


def _inked() -> matplotlib.colors.Colormap:
    """From paper to ink, for what is never below 0."""
    return matplotlib.colors.LinearSegmentedColormap.from_list("inked", ["#FFFFFF", colours.SKY, colours.BLUE, "#06304D"])
