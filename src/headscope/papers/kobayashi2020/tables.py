"""Tables 1, 2 and 4 as the paper prints them, its own numbers beside; columns with a star are the paper's."""

from collections.abc import Sequence

import pandas as pd

from headscope.papers.kobayashi2020 import facts
from headscope.papers.kobayashi2020.categories import Category
from headscope.study.results.result import in_percent, paper_label

_PRINTED = {"mean": "Mean", "deviation": "Deviation", "cv": "CV", "largest": "Max", "smallest": "Min"}
_AVERAGED = ("mean", "deviation", "cv")


def dispersion(table: pd.DataFrame, theirs: pd.DataFrame, where: str) -> pd.DataFrame:
    """The row with the largest CV, the one with the smallest, and the averages; `where` is "Head" or "Layer".

    An average CV is the mean of the rows' CVs, as there, and not the CV of all vectors together.
    """
    chosen = {"max CV": table.loc[table["cv"].idxmax()], "min CV": table.loc[table["cv"].idxmin()]}
    printed = theirs.set_index("which")
    rows = []
    for which in printed.index:
        ours = chosen.get(which, table[list(_AVERAGED)].mean())
        row = {"": which, where: _place(ours, where) if which in chosen else ""}
        row |= {title: _two(ours.get(name)) for name, title in _PRINTED.items()}
        row[f"{where}*"] = printed.loc[which, "where"]
        row |= {f"{title}*": _two(printed.loc[which, name]) for name, title in _PRINTED.items()}
        rows.append(row)
    return pd.DataFrame(rows)


def weight_against_norm(table: pd.DataFrame, categories: Sequence[Category]) -> pd.DataFrame:
    """Table 2: rho of the pairs with its error, and that of appendix D's means of tokens."""
    printed, counted = facts.TABLE2.set_index("category"), table.set_index("category")
    rows = []
    for category in categories:
        ours = counted.loc[category.name]
        row = {"Token category": category.label, "Pairs": f"{int(ours['pairs']):,}", "rho": _two(ours["rho"])}
        row |= {"error at most": _two(ours["bound"], 4), "rho of tokens": _two(ours["rho_tokens"])}
        row["Tokens"] = f"{int(ours['tokens']):,}"
        known = category.name in printed.index
        row["Pairs*"] = f"{int(printed.loc[category.name, 'pairs']):,}" if known else ""
        row["rho*"] = _two(printed.loc[category.name, "rho"]) if known else ""
        rows.append(row)
    return pd.DataFrame(rows)


def shares_by_layer(layers: pd.DataFrame, categories: Sequence[Category]) -> pd.DataFrame:
    """What a layer gives to each category in percent, by weight where the table has weights, and by norm."""
    shown = {"Layer": [str(layer + 1) for layer in layers["layer"]]}
    for prefix, by in (("weight", "by weight"), ("share_norm", "by norm")):
        for category in categories:
            column = layers.get(f"{prefix}_{category.name}")
            if column is not None:
                shown[f"{category.label}, {by}"] = [in_percent(share) for share in column]
    return pd.DataFrame(shown)


def heaviest_heads(heads: pd.DataFrame, categories: Sequence[Category], most: int = 12) -> pd.DataFrame:
    """For each category the heads that give it the largest weight."""
    rows = []
    for category in categories:
        for head in heads.nlargest(most, f"weight_{category.name}").to_dict("records"):
            scores = {sign: head[f"{prefix}_{category.name}"] for sign, prefix in _SCORES.items()}
            rows.append({"Category": category.label, "Head": paper_label(head["layer"], head["head"]), **scores})
    return pd.DataFrame(rows)


_SCORES = {"α": "weight", "‖f(x)‖": "value_norm", "‖αf(x)‖": "norm"}


def _place(row: pd.Series, where: str) -> str:
    return paper_label(int(row["layer"]), int(row["head"])) if where == "Head" else str(int(row["layer"]) + 1)


def _two(value: float | None, digits: int = 2) -> str:
    return "" if value is None or value != value else f"{value:.{digits}f}"
