"""Section 3.2: how much the loss depends on attention to separators, punctuation and all tokens (figure 3)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from headscope import colours
from headscope.papers.clark2019.surface import EdgeTokens
from headscope.study.results import figures
from headscope.study.results.result import Result
from headscope.study.results.workspace import own_heads


def figure3(importance: pd.DataFrame, tokens: EdgeTokens) -> Result:
    """Figure 3 out of an `importance` table: the mean of each layer's heads."""
    table = own_heads(importance)
    separators = [token for token in tokens.separators if token in table]
    lines = {"all unmasked tokens": "unmasked"} | {token: token for token in separators}
    if not separators:
        lines["first token"] = "first_token"
    lines[". or ,"] = "punctuation"
    columns = list(dict.fromkeys(lines.values()))
    by_layer = table.groupby("layer")[columns].mean().reset_index()
    shown = by_layer.assign(layer=by_layer["layer"] + 1).rename(columns={name: label for label, name in lines.items()})
    return Result(
        "clark2019_fig3",
        "Figure 3: gradients of the loss by attention",
        table,
        shown,
        _draw(by_layer, lines),
        [
            "The mean over pairs of |dL/dα|, where L is a text's mean loss over the tokens to predict; the paper does not "
            "say what its average runs over, so shapes can be compared, and heights cannot. Layers count from 1 here."
        ],
    )


def _draw(by_layer: pd.DataFrame, lines: dict[str, str]) -> Figure:
    made, axes = figures.figure()
    (panel,) = axes.flat
    own = {"all unmasked tokens": colours.INK, ". or ,": colours.GREEN}
    for label, column in lines.items():
        colour = own.get(label, colours.VERMILION)
        panel.plot(
            by_layer["layer"] + 1, by_layer[column], marker="o", markersize=3, linewidth=1.2, color=colour, label=label
        )
    figures.layer_axis(panel, int(by_layer["layer"].max()) + 1)
    panel.set_ylabel("Average |∂L/∂α|")
    panel.set_ylim(bottom=0)
    panel.ticklabel_format(axis="y", style="sci", scilimits=(-3, 3))
    figures.legend(panel, markerscale=1, ncols=2)
    return made
