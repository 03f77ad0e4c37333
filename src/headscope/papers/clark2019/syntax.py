"""Section 4.2: for every relation the head that knows it best, beside fixed offsets, the twin and the paper (table 1)."""

from __future__ import annotations

import pandas as pd

from headscope.heads.relations import best_relation_heads
from headscope.papers.clark2019 import facts
from headscope.statistics.words.relations import ALL, ALL_BUT_PUNCTUATION
from headscope.study.results.result import Result, in_percent, paper_label
from headscope.text.relation_names import OTHER, REVERSED, SAME, Found, find_relation

_CLOSER = (SAME, REVERSED, OTHER)


def table1(relations: pd.DataFrame, twin: pd.DataFrame | None) -> Result:
    """Table 1 out of the `relations` tables of the model and, where there is one, of its randomly initialised twin."""
    both_directions = with_twin(best_relation_heads(relations), twin)
    shown, notes = _shown(with_twin(best_relation_heads(relations, either_direction=True), twin))
    return Result("clark2019_table1", "Table 1: the best head for every relation", both_directions, shown, notes=notes)


def with_twin(best: pd.DataFrame, twin: pd.DataFrame | None) -> pd.DataFrame:
    """The twin's best head for the same relation and direction, chosen for itself."""
    if twin is None:
        return best
    theirs = best_relation_heads(twin)[["relation", "direction", "accuracy", "held_out"]]
    theirs = theirs.rename(columns={"accuracy": "twin_accuracy", "held_out": "twin_held_out"})
    return best.merge(theirs, on=["relation", "direction"], how="left")


def _shown(best: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """As the paper prints it, all relations; and what must be known to compare."""
    in_paper, differing = _beside(set(best["relation"]) - {ALL, ALL_BUT_PUNCTUATION})
    rows = []
    for head in best.to_dict("records"):
        row = {
            "Relation": head["relation"],
            "Direction": head["direction"].replace(" to ", " → "),
            "Head": paper_label(head["layer"], head["head"]),
            "Accuracy": in_percent(head["accuracy"]),
            "95 %": _interval(head),
            "Held out": in_percent(head["held_out"]),
            "Baseline": _with_offset(head["baseline"], head["offset"]),
        }
        if "twin_accuracy" in head:
            row["Random twin"] = in_percent(head["twin_accuracy"])
        row["Cases"] = head["cases"]
        rows.append(row | in_paper.get(head["relation"], _NOT_IN_PAPER))
    notes = [
        f"Columns with * are the paper's: {facts.MODEL}, {facts.TREEBANK}. Heads are layer-head from 1, as there; "
        "accuracies are in percent, the number after a baseline is its offset, the head's place less the dependent's.",
        "Held out: every case is tried with the head that is the best on the other half of the sentences. The random twin's "
        "head is chosen for itself, on all cases.",
        *differing,
    ]
    return pd.DataFrame(rows), notes


_NOT_IN_PAPER = {"Relation*": "", "Head*": "", "Accuracy*": "", "Baseline*": ""}


def _beside(relations: set[str]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """By the run's relation the paper's row, and a sentence for each that links other words."""
    nearest: dict[str, tuple[Found, dict[str, str]]] = {}
    for fact in facts.TABLE1.to_dict("records"):
        found = Found(ALL) if fact["relation"] == ALL else find_relation(fact["relation"], relations)
        if found is None:
            continue
        row = {
            "Relation*": fact["relation"],
            "Head*": fact["head"],
            "Accuracy*": f"{fact['accuracy']:.1f}",
            "Baseline*": f"{fact['baseline']:.1f} ({fact['offset']:+d})",
        }
        if found.name not in nearest or _CLOSER.index(found.ends) < _CLOSER.index(nearest[found.name][0].ends):
            nearest[found.name] = found, row
    differing = [
        f"The paper's {row['Relation*']} stands beside {name}, but they are not the same: {found.note}."
        for name, (found, row) in nearest.items()
        if found.ends != SAME
    ]
    return {name: row for name, (_, row) in nearest.items()}, differing


def _with_offset(accuracy: float, offset: float) -> str:
    return f"{in_percent(accuracy)} ({int(offset):+d})"


def _interval(head: dict[str, float]) -> str:
    low, high = head.get("accuracy_low"), head.get("accuracy_high")
    return "" if low is None or high is None or low != low else f"{in_percent(low)}–{in_percent(high)}"
