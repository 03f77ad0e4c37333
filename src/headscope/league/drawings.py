"""The figures of the league: each number against the effect, and what is lost against the share of heads that are gone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headscope import colours
from headscope.later import Figure, pd
from headscope.league.curves import RANDOM
from headscope.study.results import figures

PANELS = 8  # numbers that are drawn
LINES = 6  # orders that are drawn beside the effect's own and random ones
AXES = {"kl": "KL without it", "loss": "Change of the loss", "states": "1 − cos of states", "pooled": "1 − cos of texts"}


def scatter(heads: pd.DataFrame, numbers: Sequence[str], effect: str) -> Figure:
    """A panel a number, a point a head, coloured by how deep its layer is."""
    chosen = list(numbers[:PANELS])
    columns = min(4, len(chosen))
    rows = math.ceil(len(chosen) / columns)
    made, axes = figures.figure(rows, columns, width=1.75 * columns, height=1.55 * rows, sharey=True)
    depth = heads["layer"].to_numpy(dtype=float)
    image = None
    for panel, number in zip(axes.flat, chosen, strict=False):
        values, effects = heads[number].to_numpy(dtype=float), heads[effect].to_numpy(dtype=float)
        image = panel.scatter(values, effects, c=depth, cmap="cividis", s=6, linewidths=0)
        panel.set_title(number.replace("_", " "), fontsize=7.5, fontweight="bold", loc="left", pad=3)
        panel.tick_params(labelsize=6)
        if (effects > 0).all():
            panel.set_yscale("log")
    for panel in list(axes.flat)[len(chosen) :]:
        panel.set_visible(False)
    for panel in axes[:, 0]:
        panel.set_ylabel(AXES[effect], fontsize=7)
    if image is not None:
        figures.colour_scale(image, list(axes.flat), "Layer, from 0")
    return made


def curves(table: pd.DataFrame, orders: pd.DataFrame) -> Figure:
    """The best orders, the worst, and the effect's own as lines; random ones as a band from their least to their most."""
    main = str(orders["effect"].iloc[0])
    made, axes = figures.figure(width=2 * colours.COLUMN, height=2.8)
    (panel,) = axes.flat
    by_lot = table[table["order"].str.startswith(f"{RANDOM} ")]
    if len(by_lot):
        band = by_lot.groupby("share")[main].agg(["min", "max"])
        panel.fill_between(band.index, band["min"], band["max"], color=colours.PALE, linewidth=0, label="random orders")
    known = [name for name in orders["order"] if not name.startswith((RANDOM, "effect"))]
    shown = list(dict.fromkeys([*known[: LINES - 1], *known[-1:]]))
    own = [name for name in orders["order"] if name.startswith("effect")][:1]
    for name, colour in zip([*own, *shown], (colours.INK, *colours.PALETTE), strict=False):
        some = table[table["order"] == name]
        style = "--" if name in own else "-"
        panel.plot([0, *some["share"]], [0, *some[main]], style, color=colour, linewidth=1.2, label=name.replace("_", " "))
    panel.set(xlabel="Share of heads that are gone", ylabel=AXES[main])
    panel.set_xlim(0, 1)
    figures.legend(panel, ncols=4)
    return made
