"""Tables 1, 2 and 4 as the paper prints them, its own numbers beside; columns with a star are the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headscope.later import pd
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
    """Table 2: rho of the pairs with its error, of means of tokens, and of what appendix D says."""
    printed, counted = facts.TABLE2.frame.set_index("category"), table.set_index("category")
    rows = []
    for category in categories:
        ours = counted.loc[category.name]
        row = {"Token category": category.label, "Pairs": f"{int(ours['pairs']):,}", "rho": _two(ours["rho"])}
        row |= {"error at most": _two(ours["bound"], 4), "rho of tokens": _two(ours["rho_tokens"])}
        row |= {"rho of α and ‖αf(x)‖ of tokens": _two(ours["rho_weighted"]), "Tokens": f"{int(ours['tokens']):,}"}
        known = category.name in printed.index
        row["Pairs*"] = f"{int(printed.loc[category.name, 'pairs']):,}" if known else ""
        row["rho*"] = _two(printed.loc[category.name, "rho"]) if known else ""
        rows.append(row)
    return pd.DataFrame(rows)


def shares_by_layer(measures: Mapping[str, tuple[str, pd.DataFrame]], categories: Sequence[Category]) -> pd.DataFrame:
    """What a layer gives to each category in percent, by measures: the prefix of a measure's columns, and their table."""
    first = next(iter(measures.values()))[1]
    shown = {"Layer": [str(layer + 1) for layer in first["layer"]]}
    for by, (prefix, layers) in measures.items():
        for category in categories:
            shown[f"{category.label}, {by}"] = [in_percent(share) for share in layers[f"{prefix}_{category.name}"]]
    return pd.DataFrame(shown)


def three_measures(layers: pd.DataFrame, together: pd.DataFrame, categories: Sequence[Category]) -> pd.DataFrame:
    """The table of the joint norm, and behind its columns a layer's shares by weight and by the heads' own norms."""
    where = ["stack", "kind", "layer"]
    columns = [f"{prefix}_{category.name}" for prefix in ("weight", "share_norm") for category in categories]
    apart = layers[[*where, *columns]].rename(columns=lambda name: name.replace("share_norm_", "share_norm_apart_"))
    return together.merge(apart, on=where)


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
