"""Figures 5 to 12 and A.1, A.2 in the paper's form: layers down, heads across, both from 0."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from headscope import colours
from headscope.later import Figure, pd
from headscope.statistics.words.dependencies import FORMS
from headscope.study.results import figures

FORM_NAMES = dict(zip(FORMS, ("attending token is parent", "attended token is parent", "either"), strict=True))


def of_heads(heads: pd.DataFrame, column: str, title: str) -> Figure:
    """One heat map."""
    values = figures.head_grid(heads, column)
    made, axes = figures.figure(height=0.7 + 0.11 * len(values) if len(values) > 12 else 2.3)
    figures.heatmap(axes[0, 0], values, title)
    axes[0, 0].set(xlabel="Head", ylabel="Layer")
    return made


def of_labels(labels: pd.DataFrame, column: str, side: str, names: Sequence[str]) -> Figure:
    """A heat map for each label, each with a scale of its own, as in figures 6, 7, A.1 and A.2."""
    columns = min(4, len(names))
    rows = math.ceil(len(names) / columns)
    made, axes = figures.figure(rows, columns, width=1.75 * columns, height=1.6 * rows)
    for panel, name in zip(axes.flat, names, strict=False):
        of_name = labels[labels[column] == name]
        values = figures.head_grid(of_name, side)
        figures.heatmap(panel, values, name, least=0, scale=False)
        most, share = 100 * np.nanmax(values), 100 * of_name["corpus"].iloc[0]
        panel.set_xlabel(f"0 to {_short(most)} %; {_short(share)} % of tokens", fontsize=6.5, labelpad=1)
    for panel in list(axes.flat)[len(names) :]:
        panel.set_visible(False)
    return made


def _short(percent: float) -> str:
    """Two digits, or three for all of it.

    >>> _short(99.7), _short(41.2), _short(0.123)
    ('100', '41', '0.12')
    """
    return f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"


def alignment(by_layer: pd.DataFrame) -> Figure:
    """Figure 8: the three formulations by layer, each with its baseline."""
    made, axes = figures.figure(1, 3, width=2 * colours.COLUMN, height=2.2, sharey=True)
    for panel, (form, title) in zip(axes.flat, FORM_NAMES.items(), strict=True):
        panel.bar(by_layer["layer"], by_layer[form], color=colours.SKY, width=0.8)
        panel.plot(by_layer["layer"], by_layer[f"{form}_baseline"], color=colours.ORANGE, linewidth=1.4, label="token pairs")
        panel.set_title(title, fontsize=8, fontweight="bold", loc="left")
        panel.set_xlabel("Layer")
    axes[0, 0].set_ylabel("Dependency alignment")
    made.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=7, frameon=False, loc="outside upper right")
    return made


def types_by_layer(types: pd.DataFrame, side: str, most: int = 24) -> Figure:
    """Figure 9: each relation's share of the attention by layer, as a part of its largest; the number is the largest."""
    frequent = types.groupby("relation")["corpus"].first().sort_values(ascending=False).head(most).index
    shares = types[types["relation"].isin(frequent)].pivot(index="relation", columns="layer", values=side).loc[frequent]
    values = shares.to_numpy(dtype=float)
    largest = np.nanmax(values, axis=1, keepdims=True)
    made, axes = figures.figure(width=colours.COLUMN * 1.3, height=0.6 + 0.15 * len(shares))
    (panel,) = axes.flat
    relative = np.divide(values, largest, out=np.zeros_like(values), where=largest > 0)
    panel.imshow(relative, cmap="cividis", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    panel.set_yticks(range(len(shares)), list(shares.index))
    panel.set_xticks(range(0, values.shape[1], 1 if values.shape[1] <= 12 else 5))
    panel.tick_params(length=0, labelsize=7)
    panel.set_xlabel("Layer")
    for row, share in enumerate(largest[:, 0]):
        panel.text(values.shape[1] - 0.4, row, f"{100 * share:.1f} %", va="center", fontsize=6.5, color=colours.FAINT)
    panel.spines[:].set_visible(False)
    return made


def distance(heads: pd.DataFrame) -> Figure:
    """Figure 11: the mean distance of every head, and of every layer."""
    values = figures.head_grid(heads, "distance")
    made, axes = figures.figure(1, 2, width=2 * colours.COLUMN, height=0.7 + 0.11 * len(values) if len(values) > 12 else 2.3)
    figures.heatmap(axes[0, 0], values, "Mean distance")
    axes[0, 0].set(xlabel="Head", ylabel="Layer")
    axes[0, 1].barh(range(len(values)), np.nanmean(values, axis=1), color=colours.SKY)
    axes[0, 1].invert_yaxis()
    axes[0, 1].set(xlabel="Mean distance of the layer's heads, in tokens", ylabel="Layer")
    return made
