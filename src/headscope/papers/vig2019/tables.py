"""From the tables of a study to those of the paper: one row a head, by layer, and by part of speech."""

from __future__ import annotations

from typing import Any

from headscope.later import pd, stats
from headscope.lens.head import HEAD, Head
from headscope.statistics import Dependencies, Distance, Entropy, FirstToken, Statistic, Variability
from headscope.statistics.words.dependencies import FORMS
from headscope.study import Run
from headscope.study.tables import main_stack

DOUBLE = 2  # a head targets a tag when it gives it more than double the mean of all heads


def heads_table(counted: Run, second: Run, filtered: dict[str, Any], dependencies: Dependencies) -> pd.DataFrame:
    """One row a head: null attention, dependency alignment, variability, distance, entropy.

    `filtered` are the settings of the statistics that leave the first token out; null attention has all of them but this.
    """
    every = {name: value for name, value in filtered.items() if name != "without_first"}
    table = main_stack(counted[FirstToken(**every)])[[*HEAD, "first_token"]]
    columns: list[tuple[Run, Statistic, list[str]]] = [
        (counted, dependencies, [*FORMS, *(f"{form}_baseline" for form in FORMS), "total"]),
        (counted, Distance(**filtered), ["distance"]),
        (counted, Entropy(**filtered), ["entropy"]),
        (second, Variability(**filtered), ["variability"]),
    ]
    for run, statistic, some in columns:
        table = table.merge(main_stack(run[statistic])[[*HEAD, *some]], on=HEAD)
    return table


def by_layer(heads: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Each layer's share of all attention that counts: heads weigh by how much of it they have."""
    weighted = heads[columns].mul(heads["total"], axis=0).assign(layer=heads["layer"], total=heads["total"])
    sums = weighted.groupby("layer").sum()
    return sums[columns].div(sums["total"], axis=0).reset_index()


def labels_by_layer(labels: pd.DataFrame, heads: pd.DataFrame, column: str) -> pd.DataFrame:
    """The same for every tag or relation: layer, label, to, from, corpus."""
    joined = labels.merge(heads[[*HEAD, "total"]], on=HEAD)
    rows = []
    for (label, layer), group in joined.groupby([column, "layer"]):
        weights = group["total"] / group["total"].sum()
        shares = {side: float((group[side] * weights).sum()) for side in ("to", "from")}
        rows.append({column: label, "layer": layer, **shares, "corpus": group["corpus"].iloc[0]})
    return pd.DataFrame(rows)


def targeted(labels: pd.DataFrame, column: str) -> pd.DataFrame:
    """For every label and side: the mean over heads, the best head, the top five, and the heads over twice the mean."""
    rows = []
    for label, group in labels.groupby(column, sort=False):
        for side in ("to", "from"):
            mean = float(group[side].mean())
            ranked = group.sort_values(side, ascending=False, kind="stable")
            over = ranked[ranked[side] > DOUBLE * mean]
            top = [Head.of(row).label for _, row in ranked.head(5).iterrows()]
            row = {column: label, "side": side, "corpus": group["corpus"].iloc[0], "mean": mean, "best_head": top[0]}
            row |= {"best": float(ranked[side].iloc[0]), "over_double": len(over), "top_heads": " ".join(top)}
            rows.append(row)
    return pd.DataFrame(rows).sort_values(["corpus", column], ascending=[False, True], kind="stable", ignore_index=True)


def correlations(heads: pd.DataFrame) -> pd.DataFrame:
    """Pearson's r over heads, with its p-value."""
    pairs = [("distance", "entropy"), ("distance", "either"), ("variability", "either"), ("first_token", "either")]
    rows = []
    for one, other in pairs:
        both = heads[[one, other]].dropna()
        r, p = stats.pearsonr(both[one], both[other]) if len(both) > 2 else (float("nan"), float("nan"))
        name = {"either": "dependency alignment", "first_token": "null attention"}
        rows.append({"one": name.get(one, one), "other": name.get(other, other), "r": r, "p": p, "heads": len(both)})
    return pd.DataFrame(rows)
