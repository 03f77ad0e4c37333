"""Section 3.2: how much the loss depends on attention to separators, punctuation and all tokens (figure 3)."""

from __future__ import annotations

import pandas as pd

from headscope.papers.clark2019 import drawings
from headscope.papers.clark2019.surface import EdgeTokens
from headscope.study.results.result import Result
from headscope.study.tables import main_stack


def figure3(importance: pd.DataFrame, tokens: EdgeTokens) -> Result:
    """Figure 3 out of an `importance` table: the mean of each layer's heads."""
    table = main_stack(importance)
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
        drawings.gradients(by_layer, lines),
        [
            "The mean over pairs of |dL/dα|, where L is a text's mean loss over the tokens to predict; the paper does not "
            "say what its average runs over, so shapes can be compared, and heights cannot. Layers count from 1 here."
        ],
    )
