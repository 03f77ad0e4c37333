"""The categories of a run by the tokens that its model has in them: [CLS], [SEP], </s>, and what a user has named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headscope import colours
from headscope.later import pd
from headscope.lens.lens import Lens
from headscope.papers.clark2019.surface import EdgeTokens
from headscope.statistics.kit.categories import category_names

_COLOURS = {"first": colours.BLUE, "separator": colours.VERMILION, "punctuation": colours.GREEN, "other": colours.FAINT}
_OWN_COLOURS = (colours.ORANGE, colours.PINK, colours.SKY, colours.YELLOW)


@dataclass(frozen=True)
class Category:
    """A category that the text has tokens of."""

    name: str  # as in the columns of `category_weights`
    label: str  # as people read it
    colour: str
    own: bool  # whether a user has named it


def categories_of(lens: Lens, given: Mapping[str, str], weights: pd.DataFrame) -> list[Category]:
    """Those that are met in the text, the paper's four first; `weights` is the table `category_weights`."""
    tokens = EdgeTokens(lens)
    labels = {
        "first": tokens.first,
        "separator": tokens.separator or "special tokens",
        "punctuation": "periods and commas",
        "other": "other tokens",
    }
    own = [name for name in category_names(given) if name in given]
    colours = {name: _OWN_COLOURS[place % len(_OWN_COLOURS)] for place, name in enumerate(own)} | _COLOURS
    return [
        Category(name, labels.get(name, name), colours[name], name in given)
        for name in (*labels, *own)
        if weights[f"texts_{name}"].max() > 0
    ]
