"""Figures 1 to 4 and 6 in the paper's form; layers and heads count from 1 there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headscope import colours
from headscope.heads.patterns import NONE
from headscope.later import Figure, Rectangle, pd
from headscope.study.results import figures
from headscope.views.print.sheet import width_of

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
_MARKS = "osD^vP*X"


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
    panel.spines[:].set_visible(False)
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
    if has_separators:
        lower, to = axes[1, 0], f"→ {separator}"
        figures.heads_by_layer(lower, table["layer"], table["from_separator"], f"{separator} {to}", colours.VERMILION, -0.08)
        figures.heads_by_layer(lower, table["layer"], table["from_others"], f"other {to}", colours.SKY, 0.08)
    for panel in axes.flat:
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


def gradients(by_layer: pd.DataFrame, lines: dict[str, str]) -> Figure:
    """Figure 3: a line over the layers for each column, by its label."""
    made, axes = figures.figure()
    (panel,) = axes.flat
    own = {"all unmasked tokens": colours.INK, ". or ,": colours.GREEN}
    unit, power = _unit(float(np.nanmax(by_layer[list(lines.values())].to_numpy(dtype=float), initial=0)))
    for label, column in lines.items():
        colour = own.get(label, colours.VERMILION)
        line = {"marker": "o", "markersize": 3, "linewidth": 1.2, "color": colour}
        panel.plot(by_layer["layer"] + 1, by_layer[column] / unit, label=label, **line)
    figures.layer_axis(panel, int(by_layer["layer"].max()) + 1)
    panel.set_ylabel(f"Average |∂L/∂α|{power}")
    panel.set_ylim(bottom=0)
    figures.legend(panel, markerscale=1, ncols=2)
    return made


def _unit(largest: float) -> tuple[float, str]:
    """What small numbers are divided by, and how the label of their axis says it: above the axis is the legend.

    >>> _unit(0.0042), _unit(0.3)
    ((0.001, ' (10⁻³)'), (1.0, ''))
    """
    exponent = math.floor(math.log10(largest)) if largest > 0 else 0
    if -2 <= exponent <= 2:
        return 1.0, ""
    return 10.0**exponent, f" (10{str(exponent).translate(_RAISED)})"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def heads_as_points(table: pd.DataFrame) -> Figure:
    """Figure 6: every head at its place, by layer and by behaviour."""
    made, axes = figures.figure(1, 2, width=2 * colours.COLUMN, height=3.6)
    by_layer, by_behaviour = axes.flat
    points = by_layer.scatter(table["x"], table["y"], c=table["layer"] + 1, cmap="viridis", s=26, linewidths=0)
    scale = made.colorbar(points, ax=by_layer, location="bottom", shrink=0.6, aspect=30, pad=0.02)
    scale.outline.set_visible(False)
    scale.set_label("Layer", fontsize=7.5)
    scale.ax.tick_params(labelsize=7, length=0)
    by_layer.set_title("Layers", fontsize=8.5, fontweight="bold", loc="left")
    by_behaviour.set_title("Behaviours", fontsize=8.5, fontweight="bold", loc="left")
    _draw_behaviours(by_behaviour, table)
    for panel in (by_layer, by_behaviour):
        panel.set_xticks([])
        panel.set_yticks([])
        panel.set_aspect("equal", adjustable="datalim")
        panel.spines[:].set_visible(False)
    _name_heads(by_behaviour, table)  # last: until then the panel moves
    return made


def _draw_behaviours(panel: Any, table: pd.DataFrame) -> None:
    """Patterns by colour, relations and coreference by name beside their heads."""
    named = (several.split("; ") for several in table["behaviour"])
    first = pd.Series([next((name for name in names if name in PATTERN_COLOURS), "") for names in named], table.index)
    knows = table["behaviour"] != ""
    rest = (("no behaviour found", colours.PALE, ~knows), ("named relation", colours.FAINT, knows & (first == "")))
    for label, colour, chosen in rest:
        panel.scatter(table["x"][chosen], table["y"][chosen], s=18, color=colour, linewidths=0, label=label)
    for name, mark in zip([name for name in PATTERN_COLOURS if name != NONE], _MARKS, strict=False):
        group = table[first == name]
        if len(group):
            panel.scatter(group["x"], group["y"], s=26, color=PATTERN_COLOURS[name], marker=mark, linewidths=0, label=name)
    figures.legend(panel, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=3, markerscale=1.2)


def _name_heads(panel: Any, table: pd.DataFrame) -> None:
    """What a head knows beside its point, at the nearest of some places where no point, name or edge is in the way.

    A name that had to go further away has a thin line to its point.
    """
    panel.figure.draw_without_rendering()  # so that places in points are known
    scale = 72 / panel.figure.dpi
    points = panel.transData.transform(table[["x", "y"]].to_numpy(dtype=float)) * scale
    edges = panel.get_window_extent().extents * scale
    taken = [(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in points]
    for place in np.argsort(-points[:, 1]):
        named = [name for name in table["behaviour"].iloc[place].split("; ") if name and name not in PATTERN_COLOURS]
        if not named:
            continue
        text = ", ".join(named[:2]) + (f" +{len(named) - 2}" if len(named) > 2 else "")
        offsets = [_offset(angle, away, 72 * width_of(text, NAME)) for away in AWAY for angle in ANGLES]
        boxes = [tuple(np.tile(points[place], 2) + offset) for offset in offsets]
        hits = [sum(_overlap(box, other) for other in taken) + 9 * _sticks_out(box, edges) for box in boxes]
        best = int(np.argmin(hits))  # the first of several, which is the nearest
        taken.append(boxes[best])
        left, low, right, high = offsets[best]
        xy = (table["x"].iloc[place], table["y"].iloc[place])
        inks: dict[str, Any] = {"fontsize": NAME, "color": colours.INK, "ha": "center", "va": "center"}
        if best >= len(ANGLES):
            inks["arrowprops"] = {"arrowstyle": "-", "linewidth": 0.4, "color": colours.FAINT, "shrinkA": 0, "shrinkB": 2}
        panel.annotate(text, xy, ((left + right) / 2, (low + high) / 2), textcoords="offset points", **inks)


NAME, POINT = 5.5, 2.8  # points: letters of a name, half of what a head's point takes
AWAY = (5, 11, 18, 26, 36, 48, 60, 75, 90, 110)  # points from it
ANGLES = (0, 180, 90, 270, 45, 135, 315, 225, *(15 * step for step in range(24) if step % 3))  # in degrees, the best first


def _offset(angle: float, away: float, width: float) -> tuple[float, float, float, float]:
    """A name's box around its point: left, low, right, high; it begins where its distance ends."""
    x, y = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    width, tall = width + 2, 1.5 * NAME  # of letters that go up and such that go down, and some air
    across, up = x * (away + width / 2), y * (away + tall / 2)
    return across - width / 2, up - tall / 2, across + width / 2, up + tall / 2


def _sticks_out(box: tuple[float, ...], edges: Any) -> bool:
    return bool(box[0] < edges[0] or box[1] < edges[1] or box[2] > edges[2] or box[3] > edges[3])


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
