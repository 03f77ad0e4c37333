"""What becomes of the model without a head, as a card says it: on repeated tokens, on the corpus of `headscope ablate`."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import Any

from headscope.ablation.tables import NAME as ABLATION  # rows by head and by what takes its place
from headscope.errors import InputError
from headscope.heads.repeats_without import FAMILY, is_confirmed
from headscope.heads.repeats_without import NAME as REPEATS
from headscope.later import pd
from headscope.lens.head import Head
from headscope.report import schema
from headscope.study.manifest import is_same_model
from headscope.study.run import Run

HOW = ("mean", "zero", "resample")  # the first of these that was tried is told of
INSTEAD = {"mean": "its mean in its place", "zero": "nothing in its place", "resample": "another text's in its place"}
WHAT = {  # column: what changes, by how much of what
    "loss": "the loss {changes} by {value} nats a token",
    "pooled": "the texts' vectors move by {value} (1 - cosine)",
    "states": "the final states move by {value} (1 - cosine)",
}


def effects_of(run: Run) -> dict[Head, schema.HeadEffect]:
    """By head, what the run's tables say of the model without it; heads that none was taken out of are not there."""
    said: dict[Head, schema.HeadEffect] = {}
    repeats, ablation = run.get(REPEATS), chosen_ablation(run)
    families = {Head.of(row): row["family"] for row in run.roles.to_dict("records")}
    for row in [] if repeats is None else repeats.to_dict("records"):
        head = Head.of(row)
        confirmed = is_confirmed(row["loss_low"], row["others"]) if families.get(head) == FAMILY else None
        said[head] = {"says": [_on_repeated(row, confirmed)], "confirmed": confirmed}
    for row in [] if ablation is None else ablation.to_dict("records"):
        entry = said.setdefault(Head.of(row), {"says": [], "confirmed": None})
        entry["says"] += _on_text(row)
    return {head: entry for head, entry in said.items() if entry["says"]}


def with_ablation(run: Run, ablation: Run) -> Run:
    """The run with the table of another run, one of `headscope ablate` with the same model."""
    if ABLATION not in ablation:
        raise InputError(f"{ablation.folder} has no table {ABLATION}: make it with headscope ablate.")
    theirs, ours = (one.manifest["model"] for one in (ablation, run))
    if not is_same_model(theirs, ours):
        raise InputError(
            f"{ablation.folder} is of {theirs['name']}, and {run.folder} of {ours['name']}, which is another model: "
            "take heads out of that one."
        )
    return run.with_table(ABLATION, ablation[ABLATION])


def chosen_ablation(run: Run) -> pd.DataFrame | None:
    """The rows of the table that says what becomes of the model without a head, of one way of taking heads out."""
    table = run.get(ablation_table(run))
    if table is None or table.empty:
        return None
    if "how" in table:
        ways = set(table["how"])
        table = table[table["how"] == next((way for way in HOW if way in ways), table["how"].iloc[0])]
    return table


def ablation_table(run: Run) -> str:
    """Its name: that of `headscope ablate`, or in a league's run that of its heads."""
    return ABLATION if ABLATION in run else "league_heads"


def _on_repeated(row: Mapping[str, Any], confirmed: bool | None) -> str:
    """
    >>> _on_repeated({"loss": -0.42, "others": 0.001, "others_deviation": 0.002}, None)
    'Without it random tokens that come twice cost 0.42 nats less each (other heads of its layer 0.001 ± 0.002).'
    """
    others = _others(row["others"], row["others_deviation"])
    more = "more" if row["loss"] >= 0 else "less"
    text = f"Without it random tokens that come twice cost {small(abs(row['loss']))} nats {more} each{others}"
    end = {True: ": it does what its name says.", None: "."}
    return text + end.get(
        confirmed, ": not surely more than without another head of its layer, so it has its name by its pattern only."
    )


def _on_text(row: Mapping[str, Any]) -> list[str]:
    instead = INSTEAD.get(str(row.get("how", "")), "")
    for column, what in WHAT.items():
        value = row.get(column)
        if value is None or value != value:
            continue
        changes = "rises" if value >= 0 else "falls"
        kl = row.get("kl")
        diverges = f"; what it predicts diverges by {small(kl)} nats (KL)" if kl is not None and kl == kl else ""
        text = what.format(changes=changes, value=small(abs(value) if column == "loss" else value))
        others = _others(row.get(f"{column}_others", nan), row.get(f"{column}_others_deviation", nan))
        return [f"On text, without it ({instead}) {text}{others}{diverges}."]
    return []


def _others(mean: float, deviation: float) -> str:
    return "" if mean != mean else f" (other heads of its layer {small(mean)} ± {small(deviation)})"


def small(value: float) -> str:
    """
    >>> small(0.4234), small(0.00123), small(-0.0301), small(3.14159), small(0.0)
    ('0.42', '0.001', '-0.03', '3.14', '0.000')
    """
    return f"{value:.2f}" if abs(value) >= 0.0295 else f"{value:.3f}"
