"""How the small pictures of the reference pages are drawn: on no ground of their own, in a grey for light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from headscope.colours import ABOVE, BELOW, BLUE, SCORES

GREY = "#808891"
LIKE = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "headscope",  # and the same picture the same bytes
    "font.family": "sans-serif",
    "font.size": 8,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), GREY),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 8,
    "legend.frameon": False,
}
FROM_NOTHING = LinearSegmentedColormap.from_list("scores", SCORES)
BOTH_WAYS = LinearSegmentedColormap.from_list("signed", [*reversed(BELOW), *ABOVE[1:]])


def new(width: float = 4.4, height: float = 2.2, columns: int = 1) -> tuple[Figure, list[Axes]]:
    matplotlib.rcParams.update(LIKE)
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(1, columns)))


def save(figure: Figure, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, transparent=True, metadata={"Date": None})


def coloured(figure: Figure, axes: Axes, values: Any, *, signed: bool = False, **limits: float) -> None:
    """A matrix in colours, with its scale."""
    if signed:
        most = float(np.abs(values).max())
        limits = {"vmin": -most, "vmax": most}
    shown = axes.imshow(
        values, cmap=BOTH_WAYS if signed else FROM_NOTHING, aspect="auto", interpolation="none", **({"vmin": 0} | limits)
    )
    axes.spines[:].set_visible(False)
    figure.colorbar(shown, ax=axes, pad=0.02).outline.set_visible(False)


def of_heads(table: pd.DataFrame, column: str, title: str, **limits: float) -> Figure:
    """A number of every head: layers downwards, heads to the right."""
    figure, (axes,) = new()
    coloured(
        figure, axes, table.pivot_table(index="layer", columns="head", values=column, sort=True).to_numpy(float), **limits
    )
    axes.set(title=title, xlabel="head", ylabel="layer")
    axes.set_xticks(range(0, int(table["head"].max()) + 1))
    return figure


def of_tokens(scores: Any, tokens: Sequence[str], title: str, *, signed: bool = False) -> Figure:
    """Scores of a head: who looks downwards, who is looked at to the right. One row, where they are no pairs."""
    values = np.atleast_2d(np.asarray(scores))
    pairs = values.shape[0] > 1
    figure, (axes,) = new(4.2, 3.2 if pairs else 1.3)
    coloured(figure, axes, values, signed=signed)
    axes.set_xticks(range(len(tokens)), tokens, rotation=60, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(tokens)) if pairs else [], tokens if pairs else [])
    axes.set_title(title)
    return figure


def lines(x: Any, by_name: dict[str, Any], title: str, xlabel: str, colours: Sequence[str] = (BLUE,), **axis: Any) -> Figure:
    """One line a name."""
    figure, (axes,) = new()
    for (name, values), colour in zip(by_name.items(), colours, strict=False):
        axes.plot(x, values, marker="o", markersize=3, label=name, color=colour)
    axes.set(title=title, xlabel=xlabel, **axis)
    if len(by_name) > 1:
        axes.legend()
    return figure
