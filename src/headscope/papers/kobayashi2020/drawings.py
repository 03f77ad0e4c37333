"""Figures 3 to 5, 9 to 15 and 25, and those beyond the paper, for a model that has read a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headscope import colours
from headscope.later import Figure, matplotlib, pd, ticker
from headscope.papers.kobayashi2020.categories import Category
from headscope.study.results import figures
from headscope.study.results.result import paper_label

WEIGHT, VALUE_NORM, NORM = "α", "‖f(x)‖", "‖αf(x)‖"
POINTS_DPI = 300  # thousands of points are a picture within the figure: as shapes they would be megabytes


def by_layer(layers: pd.DataFrame, panels: Mapping[str, str], categories: Sequence[Category]) -> Figure:
    """A panel for each prefix of columns, with its title; in each a line a category over the layers (figure 3)."""
    made, axes = figures.figure(1, len(panels), width=2 * colours.COLUMN, height=2.5)
    for panel, (prefix, title) in zip(axes.flat, panels.items(), strict=True):
        for category in categories:
            heights = layers[f"{prefix}_{category.name}"]
            line = {"color": category.colour, "linewidth": 1.2, "marker": "o", "markersize": 3}
            panel.plot(layers["layer"] + 1, heights, label=written(category.label), **line)
        figures.layer_axis(panel, int(layers["layer"].max()) + 1)
        panel.set_ylabel(title)
        panel.set_ylim(bottom=0)
    _legend_above(made, axes[0, 0])
    return made


def of_category(heads: pd.DataFrame, categories: Sequence[Category]) -> Figure:
    """For each category a row: its weight and its norm in every head, layers down, both from 1 (figures 4, 10 to 12)."""
    layers = int(heads["layer"].nunique())
    tall = 0.75 + (0.11 * layers if layers > 12 else 1.5)
    made, axes = figures.figure(len(categories), 2, width=1.6 * colours.COLUMN, height=tall * len(categories))
    for row, category in zip(axes, categories, strict=True):
        for panel, prefix, sign in zip(row, ("weight", "value_norm"), (WEIGHT, VALUE_NORM), strict=True):
            values = figures.head_grid(heads, f"{prefix}_{category.name}")
            figures.heatmap(panel, values, f"{sign}, {written(category.label)}", least=0)
            _from_one(panel, values.shape)
        row[1].set_ylabel("")
    return made


def singular_values(table: pd.DataFrame) -> Figure:
    """Figure 9: the singular values of the heads in the table in descending order, darker for lower layers."""
    heads = table[["layer", "head"]].drop_duplicates().sort_values("layer").to_numpy(dtype=int)
    made, axes = figures.figure(width=1.4 * colours.COLUMN, height=2.6)
    panel = axes[0, 0]
    shades = matplotlib.colormaps["viridis"](np.linspace(0, 0.92, len(heads)))
    for (layer, head), colour in zip(heads, shades, strict=True):
        of_head = table[(table["layer"] == layer) & (table["head"] == head)].sort_values("rank")
        panel.plot(of_head["rank"] + 1, of_head["value"], color=colour, linewidth=1.1, label=paper_label(layer, head))
    panel.set(xlabel="Singular value, from the largest", ylabel="Value", yscale="log")
    panel.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter("{x:g}")
    panel.yaxis.set_minor_locator(ticker.NullLocator())
    beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "ncols": 1 + (len(heads) - 1) // 12}
    figures.legend(panel, title="layer-head", title_fontsize=7.5, **beside)
    return made


def joint(layers: pd.DataFrame, joint_layers: pd.DataFrame, categories: Sequence[Category]) -> Figure:
    """Shares by weight, by the mean of the heads' norms, and by the norm of all heads together (appendix A)."""
    panels = (
        ("weight", layers, "Weight"),
        ("share_norm", layers, "Norm, heads apart"),
        ("share_norm", joint_layers, "Joint norm"),
    )
    made, axes = figures.figure(1, 3, width=2 * colours.COLUMN, height=2.5, sharey=True)
    for panel, (prefix, table, title) in zip(axes.flat, panels, strict=True):
        below = np.zeros(len(table))
        for category in categories:
            heights = table[f"{prefix}_{category.name}"].to_numpy(dtype=float)
            bar = {"bottom": below, "color": category.colour, "width": 0.8, "label": written(category.label)}
            panel.bar(table["layer"] + 1, heights, **bar)
            below += np.nan_to_num(heights)
        panel.set_title(title, fontsize=8, fontweight="bold", loc="left")
        figures.layer_axis(panel, int(table["layer"].max()) + 1)
    axes[0, 0].set_ylabel("Share")
    _legend_above(made, axes[0, 0])
    return made


MIXING = {
    "mixing_attention": ("attention", colours.SKY),
    "mixing_residual": ("+ residual connection", colours.ORANGE),
    "mixing": ("+ layer normalisation", colours.BLUE),
}


def mixing(table: pd.DataFrame) -> Figure:
    """The mixing ratio by layer: how much of a token's new vector comes from the others."""
    made, axes = figures.figure(width=1.4 * colours.COLUMN, height=2.5)
    panel = axes[0, 0]
    for column, (label, colour) in MIXING.items():
        # Seen below the last line too: they are one where a block ends in no norm.
        wide = 3 if column == "mixing_residual" else 1.2
        panel.plot(table["layer"] + 1, table[column], color=colour, linewidth=wide, marker="o", markersize=3, label=label)
    figures.layer_axis(panel, int(table["layer"].max()) + 1)
    panel.set(ylabel="Mixing ratio", ylim=(0, 1))
    _legend_above(made, panel)
    return made


def scatter(sample: pd.DataFrame, categories: Sequence[Category]) -> Figure:
    """Figure 5: all categories in one panel, in an order that lets none cover another."""
    made, axes = figures.figure(width=1.6 * colours.COLUMN, height=2.8)
    panel = axes[0, 0]
    shuffled = sample[sample["category"].isin([one.name for one in categories])].sample(frac=1, random_state=0)
    of_category = {one.name: one.colour for one in categories}
    _points(panel, shuffled, [of_category[name] for name in shuffled["category"]])
    for one in categories:
        panel.scatter([], [], s=9, color=one.colour, linewidths=0, label=written(one.label))
    _axes(panel, sample)
    figures.legend(panel, loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=1)
    return made


def scatters(sample: pd.DataFrame, categories: Sequence[Category]) -> Figure:
    """Figure 13: the same with a panel for each category."""
    rows = -(-len(categories) // 2)
    columns = min(2, len(categories))
    made, axes = figures.figure(rows, columns, width=columns * colours.COLUMN, height=2.2 * rows, sharex=True, sharey=True)
    for panel, one in zip(axes.flat, categories, strict=False):
        of_one = sample[sample["category"] == one.name]
        _points(panel, of_one, one.colour)
        panel.set_title(written(one.label), fontsize=8, fontweight="bold", loc="left")
        _axes(panel, sample)
        panel.label_outer()
    for panel in list(axes.flat)[len(categories) :]:
        panel.set_visible(False)
    for panel in list(axes.flat)[: len(categories)][-columns:]:  # the last of a column, also where the last row is not full
        panel.set_xlabel(WEIGHT)
        panel.tick_params(labelbottom=True)
    return made


def frequency(curve: pd.DataFrame, by: str) -> Figure:
    """Mean and deviation of AvgW and AvgN over bins, by `rank` (figure 14) or by `count` (figure 15)."""
    made, axes = figures.figure(1, 2, width=2 * colours.COLUMN, height=2.4)
    met = curve[(curve["tokens"] > 0) & (curve["count_mean"] > 0)]
    at = np.sqrt(met["rank_low"] * met["rank_high"]) if by == "rank" else met["count_mean"]
    met = met.assign(at=at.to_numpy(dtype=float)).sort_values("at")
    columns = (("weight", "AvgW", colours.VERMILION), ("norm", "AvgN", colours.BLUE))
    for panel, (name, label, colour) in zip(axes.flat, columns, strict=True):
        _points_with_deviations(panel, met["at"], met[f"{name}_mean"], met[f"{name}_deviation"], colour)
        panel.set(xlabel="Frequency rank" if by == "rank" else "Frequency count", ylabel=label, xscale="log")
    _weights_axis(axes[0, 0], met["weight_mean"])
    axes[0, 1].set_ylim(bottom=0)
    for panel in axes.flat:
        panel.xaxis.set_minor_locator(ticker.NullLocator())
    return made


def by_length(table: pd.DataFrame, head_size: int) -> Figure:
    """Figure 25: correlation of the weights with effective attention, and with norms, by the tokens of a text.

    The line is at the dimensions of a head: in longer texts a part of the weights must be without effect.
    """
    made, axes = figures.figure(1, 2, width=2 * colours.COLUMN, height=2.4, sharey=True)
    ordered = table.sort_values("length")
    longest = float(ordered["length"].max())
    columns = (("effective", "Effective attention", colours.GREEN), ("norm", NORM, colours.BLUE))
    for panel, (name, title, colour) in zip(axes.flat, columns, strict=True):
        _points_with_deviations(panel, ordered["length"], ordered[f"{name}_mean"], ordered[f"{name}_deviation"], colour)
        panel.set_title(title, fontsize=8, fontweight="bold", loc="left")
        panel.axvline(head_size, color=colours.FAINT, linewidth=0.8, linestyle=":", zorder=0)
        panel.set(xlabel="Tokens of the text", xlim=(0, 1.04 * longest))
        panel.xaxis.set_major_locator(ticker.MaxNLocator(nbins=8, integer=True))
    axes[0, 0].set_ylabel("Pearson's r with α")
    axes[0, 0].set_ylim(top=1.04)  # a deviation above 1 is none that r can have
    return made


def _points(panel: Any, sample: pd.DataFrame, colour: Any) -> None:
    panel.figure.set_dpi(POINTS_DPI)
    panel.scatter(sample["weight"], sample["norm"], s=3, color=colour, alpha=0.45, linewidths=0, rasterized=True)


def _axes(panel: Any, sample: pd.DataFrame) -> None:
    """Weights on a logarithmic scale: on a linear one nearly all of them are at 0."""
    panel.set(xlabel=WEIGHT, ylabel=VALUE_NORM, xscale="log")
    seen = sample["weight"][sample["weight"] > 0]
    least = max(float(seen.min()), float(seen.max()) * 1e-8) if len(seen) else 1e-6
    panel.set_xlim(least, 1.6)
    panel.set_ylim(0, 1.05 * float(sample["norm"].max()))
    panel.xaxis.set_major_locator(ticker.LogLocator(numticks=6))
    panel.xaxis.set_minor_locator(ticker.NullLocator())


def _weights_axis(panel: Any, means: pd.Series) -> None:
    """Logarithmic: a special token's mean weight can be a hundred times that of others."""
    seen = means[means > 0]
    panel.set_yscale("log")
    if len(seen):
        panel.set_ylim(float(seen.min()) / 2, float(seen.max()) * 2)
    panel.yaxis.set_minor_locator(ticker.NullLocator())


def _points_with_deviations(panel: Any, at: pd.Series, mean: pd.Series, deviation: pd.Series, colour: str) -> None:
    """A point for each mean, and a line of one deviation to both sides."""
    x, middle, spread = (np.asarray(column, dtype=float) for column in (at, mean, deviation))
    panel.errorbar(x, middle, spread, fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.3)
    panel.scatter(x, middle, s=6, color=colour, linewidths=0, zorder=3)


def written(label: str) -> str:
    """A label that matplotlib writes as it is: a dollar would begin a formula."""
    return label.replace("$", r"\$")


def _legend_above(made: Figure, panel: Any) -> None:
    handles, labels = panel.get_legend_handles_labels()
    columns = len(labels) if len(labels) <= 5 else 4
    spaces = {"handletextpad": 0.4, "columnspacing": 1.4, "borderaxespad": 0.2}
    made.legend(handles, labels, loc="outside upper left", ncols=columns, fontsize=7.5, frameon=False, **spaces)


def _from_one(panel: Any, shape: tuple[int, ...]) -> None:
    """A heat map's ticks as the paper counts."""
    for axis, size in ((panel.yaxis, shape[0]), (panel.xaxis, shape[1])):
        ticks_from_one(axis, size, step=1 if size <= 6 else 2 if size <= 12 else 4)
    panel.set(xlabel="Head", ylabel="Layer")


def ticks_from_one(axis: Any, size: int, step: int) -> None:
    places = list(range(step - 1, size, step))
    axis.set_ticks(places, [str(place + 1) for place in places])
