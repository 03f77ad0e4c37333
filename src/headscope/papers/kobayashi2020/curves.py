"""Figures 5, 13 to 15 and 25: pairs of weight and norm, frequency, and the length of the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from headscope import colours
from headscope.papers.kobayashi2020.categories import Category
from headscope.papers.kobayashi2020.drawings import VALUE_NORM, WEIGHT, written
from headscope.study.results import figures

POINTS_DPI = 300  # thousands of points are a picture within the figure: as shapes they would be megabytes


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
    for panel, name, label, colour in zip(
        axes.flat, ("weight", "norm"), ("AvgW", "AvgN"), (colours.VERMILION, colours.BLUE), strict=True
    ):
        _points_with_deviations(panel, met["at"], met[f"{name}_mean"], met[f"{name}_deviation"], colour)
        panel.set(xlabel="Frequency rank" if by == "rank" else "Frequency count", ylabel=label, xscale="log")
    _weights_axis(axes[0, 0], met["weight_mean"])
    axes[0, 1].set_ylim(bottom=0)
    for panel in axes.flat:
        panel.xaxis.set_minor_locator(NullLocator())
    return made


def by_length(table: pd.DataFrame) -> Figure:
    """Figure 25: correlation of the weights with effective attention, and with norms, by the tokens of a text."""
    made, axes = figures.figure(1, 2, width=2 * colours.COLUMN, height=2.4, sharey=True)
    ordered = table.sort_values("length")
    panels = zip(
        axes.flat, ("effective", "norm"), ("Effective attention", "‖αf(x)‖"), (colours.GREEN, colours.BLUE), strict=True
    )
    for panel, name, title, colour in panels:
        _points_with_deviations(panel, ordered["length"], ordered[f"{name}_mean"], ordered[f"{name}_deviation"], colour)
        panel.set_title(title, fontsize=8, fontweight="bold", loc="left")
        panel.set_xlabel("Tokens of the text")
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
    panel.xaxis.set_major_locator(LogLocator(numticks=6))
    panel.xaxis.set_minor_locator(NullLocator())


def _weights_axis(panel: Any, means: pd.Series) -> None:
    """Logarithmic: a special token's mean weight can be a hundred times that of others."""
    seen = means[means > 0]
    panel.set_yscale("log")
    if len(seen):
        panel.set_ylim(float(seen.min()) / 2, float(seen.max()) * 2)
    panel.yaxis.set_minor_locator(NullLocator())


def _points_with_deviations(panel: Any, at: pd.Series, mean: pd.Series, deviation: pd.Series, colour: str) -> None:
    """A point for each mean, and a line of one deviation to both sides."""
    x, middle, spread = (np.asarray(column, dtype=float) for column in (at, mean, deviation))
    panel.errorbar(x, middle, spread, fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.3)
    panel.scatter(x, middle, s=6, color=colour, linewidths=0, zorder=3)
