"""Tables 3 and 6: the error rate of the layers and heads that the paper names, and of other aligners, its numbers beside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headscope.alignment.choice import Choice, highest_norm, lowest_aer
from headscope.alignment.tables import MEASURES
from headscope.later import pd
from headscope.papers.kobayashi2020 import facts
from headscope.study.results.result import in_percent, paper_label

SETTINGS = ("AWO", "AWI")  # in the order of the tables
LAYER_MEAN, BEST_LAYER, BEST_HEAD = "layer mean", "best layer", "best head"
HIGHEST = {False: "layer with the highest average norm", True: "head with the highest average norm"}
_KEY = ["setting", "measure", "which"]


def methods(layers: pd.DataFrame, heads: pd.DataFrame, norms: pd.DataFrame, *, halves: bool) -> pd.DataFrame:
    """One row for each way of section 5.2 to take links from a model's attention.

    `layers` and `heads` are `aer_layers` and `aer_heads`, `norms` has layer, head and mean_score. A best layer or head is
    the best of all, as in the paper. `tuned_*` is the one chosen by half of the pairs and its error rate on the other half:
    what somebody can hope for who has to choose first; only where `halves` says that both have pairs.
    """
    rows: list[dict[str, Any]] = []
    for setting in SETTINGS:
        for measure in MEASURES:
            of_layers, of_heads = (_of(table, setting, measure) for table in (layers, heads))
            ways = [{"which": LAYER_MEAN, "aer": float(of_layers["aer"].mean())}]
            for which, table in ((BEST_LAYER, of_layers), (BEST_HEAD, of_heads)):
                best = {"which": which, **_judged(table, lowest_aer(table))}
                ways.append({**best, **(_tuned(table) if halves else {})})
            if measure == "norm":
                for single, which in HIGHEST.items():
                    chosen = highest_norm(norms, heads=single, measure=measure, setting=setting)
                    ways.append({"which": which, **_judged(of_heads if single else of_layers, chosen)})
            rows += [{"setting": setting, "measure": measure, **way} for way in ways]
    frame = pd.DataFrame(rows).reindex(columns=[*_KEY, *_COLUMNS])
    whole = ["layer", "head", "tuned_layer", "tuned_head"]
    return frame.astype(dict.fromkeys(whole, "Int64") | dict.fromkeys(set(_COLUMNS) - set(whole), "Float64"))


_COLUMNS = ["layer", "head", "aer", "low", "high", "tuned_layer", "tuned_head", "tuned_aer"]


def shown(table: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """As the paper prints it, in percent: means over models with their deviation (of the population); from 1."""
    printed = facts.ALIGNMENT.frame.set_index(_KEY)
    several = table["model"].nunique() > 1
    rows = []
    for key, ways in table.groupby(_KEY, sort=False):
        theirs = printed.loc[key].to_dict() if key in printed.index else {}
        names = dict(zip(("Setting", "By", "Which"), key, strict=True))
        row = {**names, "Where": _places(ways, ""), **_numbers(ways, several)}
        row |= {"Tuned on half": _places(ways, "tuned_"), "AER of the other half": _mean(ways["tuned_aer"])}
        rows.append({**row, **{title: _one(theirs.get(name)) for name, title in _THEIRS.items()}})
    systems = list(dict.fromkeys([*others.get("system", ()), *facts.OTHER_ALIGNERS]))
    for system in systems:
        ways = others[others["system"] == system] if len(others) else others
        row = {"Setting": "", "By": "", "Which": system, **(_numbers(ways, several) if len(ways) else {})}
        rows.append({**row, _THEIRS["aer_4"]: _one(facts.OTHER_ALIGNERS.get(system))})
    return pd.DataFrame(rows).fillna("")


_THEIRS = {"aer_4": "AER*, 4 heads", "sd_4": "SD*, 4 heads", "aer_8": "AER*, 8 heads", "sd_8": "SD*, 8 heads"}


def joined(tables: Sequence[tuple[str, pd.DataFrame]]) -> pd.DataFrame:
    """The tables of several models under one another, with the model's name."""
    named = [table.assign(model=name)[["model", *table.columns]] for name, table in tables]
    return pd.concat(named, ignore_index=True) if named else pd.DataFrame()


def _of(table: pd.DataFrame, setting: str, measure: str) -> pd.DataFrame:
    return table[(table["setting"] == setting) & (table["measure"] == measure)]


def _judged(table: pd.DataFrame, chosen: Choice) -> dict[str, Any]:
    row = _row(table, chosen)
    return {"layer": chosen.layer, "head": chosen.head, **{name: float(row[name]) for name in ("aer", "low", "high")}}


def _tuned(table: pd.DataFrame) -> dict[str, Any]:
    chosen = lowest_aer(table, column="aer_half_0")
    other = float(_row(table, chosen)["aer_half_1"])
    return {"tuned_layer": chosen.layer, "tuned_head": chosen.head, "tuned_aer": other}


def _row(table: pd.DataFrame, chosen: Choice) -> pd.Series:
    here = table["layer"] == chosen.layer
    return table[here if chosen.head is None else here & (table["head"] == chosen.head)].iloc[0]


def _numbers(ways: pd.DataFrame, several: bool) -> dict[str, str]:
    """The error rate, and the deviation over several models, or the interval of one."""
    aer = ways["aer"].astype(float)
    if several:
        return {"AER": _mean(aer), "SD": in_percent(float(aer.std(ddof=0))) if len(aer) > 1 else ""}
    low, high = (in_percent(float(ways[name].astype(float).iloc[0])) for name in ("low", "high"))
    return {"AER": _mean(aer), "95 % interval": f"{low} to {high}" if low else ""}


def _places(ways: pd.DataFrame, prefix: str) -> str:
    """`2`, `4 or 5`, `2-8`: the layers or heads that models have it in."""
    pairs = ways[[f"{prefix}layer", f"{prefix}head"]].drop_duplicates().itertuples(index=False)
    found = sorted((int(layer), -1 if pd.isna(head) else int(head)) for layer, head in pairs if not pd.isna(layer))
    return " or ".join(str(layer + 1) if head < 0 else paper_label(layer, head) for layer, head in found)


def _mean(column: pd.Series) -> str:
    return in_percent(float(column.astype(float).mean()))


def _one(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
