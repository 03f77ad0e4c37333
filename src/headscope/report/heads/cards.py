"""Head cards: all that a run knows of each head, ready for JSON; the page draws them."""

from __future__ import annotations

from typing import Any

import numpy as np

from headscope.heads.relations import frequent
from headscope.heads.role_table import NO_ROLE
from headscope.heads.roles import nearest_miss, rule_of_thumb, sink_share
from headscope.later import pd
from headscope.lens.head import Head
from headscope.report import schema
from headscope.report.heads.effects import effects_of
from headscope.report.heads.exemplars import exemplars_of
from headscope.report.heads.pictures import pictures_of
from headscope.report.heads.sentence import SinkNames, miss_said, sentence_about
from headscope.report.heads.writes import writes_of
from headscope.statistics.columns import card_place, describe
from headscope.statistics.table_names import parse
from headscope.study.run import Run
from headscope.study.run_by_head import RunByHead

SAME = 1e-4  # numbers that differ by less are the same for all heads, and tell nothing
SAID_BEYOND_SINKS = ("offsets", "first_token", "punctuation", "separators", "special_tokens", "category_weights")


def cards(run: Run) -> list[schema.Head]:
    """One plain dictionary a head, of text, numbers and None alone. `says` is a sentence for a newcomer."""
    found, sinks, exemplars, pictures = run.by_head, SinkNames(run), exemplars_of(run), pictures_of(run)
    effects, writes = effects_of(run), writes_of(run, exemplars)
    made: list[schema.Head] = []
    for row in run.roles.to_dict("records"):
        head = Head.of(row)
        made.append(
            {
                "name": head.name,
                "label": found.label(head),
                "stack": head.stack,
                "kind": head.kind,
                "layer": head.layer,
                "head": head.head,
                "group": f"{head.stack} {head.kind}",
                "role": row["role"],
                "family": row["family"],
                "rule": row["rule"],
                "score": _or_none(row["score"]),
                "baseline": _or_none(row["baseline"]),
                "also": [rule for rule in row["also"].split("; ") if rule],
                "nearest": _nearest(found, head) if row["role"] == NO_ROLE else None,
                "says": sentence_about(found, head, row, sinks),
                "special": {"weight": _special(found, head, norm=False), "norm": _special(found, head, norm=True)},
                "relation": best_relation(found, head),
                "antecedents": _antecedents(found, head),
                "without": effects.get(head),
                "writes": writes.get(head),
                "exemplars": exemplars.get(head, []),
                "picture": pictures.get(head),
            }
        )
    return made


def card_numbers(run: Run) -> list[str]:
    """The statistics that stand on cards, in their order: those in which heads differ."""
    found, made = run.by_head, []
    for table in sorted(_telling(found.one_row_a_head), key=_place):
        for column in map(str, found.tables[table].columns):
            about = describe(table, column)
            if about is None:
                continue
            cells = [found.cell(head, table, column) for head in found.heads if about.tells_of(head.kind)]
            values = np.array([cell.value for cell in cells if cell.is_known])
            if len(values) > 1 and np.ptp(values) > SAME * np.abs(values).max():
                made.append(f"{table}.{column}")
    return made


def _telling(tables: list[str]) -> list[str]:
    """Without the tables that say again, of all attention, what `beyond_sinks` says of sinks and of the rest."""
    names = {table: name for table in tables if (name := parse(table)) is not None}
    told = {(name.measure, name.level) for name in names.values() if name.statistic == "beyond_sinks"}
    again = {(statistic, *by) for statistic in SAID_BEYOND_SINKS for by in told}
    return [table for table, name in names.items() if (name.statistic, name.measure, name.level) not in again]


def _place(table: str) -> tuple[float, bool, str]:
    """Tables in the order that the statistics ask for, weights before norms."""
    name = parse(table)
    return card_place(table), name is not None and name.measure != "weight", table


def _nearest(found: RunByHead, head: Head) -> schema.NearestMiss | None:
    miss = nearest_miss(found, head)
    return miss and {"role": miss.role, "score": miss.score, "needed": miss.needed, "says": miss_said(miss)}


def _special(found: RunByHead, head: Head, norm: bool) -> float | None:
    """The share on the first token and separators together; None where it was not counted."""
    cells = [sink_share(found, head, place, norm=norm) for place in ("first", "separator")]
    known = [cell.value for cell in cells if cell.is_known and cell.by_norm == norm]
    return sum(known) if known else None


def best_relation(found: RunByHead, head: Head) -> schema.Relation | None:
    """The frequent relation at which a head is furthest above the best fixed offset, whether or not that is its role."""
    rows = found.rows(found.table_name("relations"), head)
    rows = rows if rows.empty else frequent(rows).dropna(subset=["accuracy"])
    if rows.empty:
        return None
    best = rows.iloc[int((rows["accuracy"] - rows["baseline"]).to_numpy(dtype=float).argmax())]
    return {
        "name": str(best["relation"]),
        "direction": str(best["direction"]),
        "accuracy": float(best["accuracy"]),
        "baseline": _or_none(best["baseline"]),
        "cases": int(best["cases"]),
    }


def _antecedents(found: RunByHead, head: Head) -> schema.Antecedents | None:
    accuracy, cases = (found.lookup(head, ("antecedents", column)) for column in ("all", "cases_all"))
    if not accuracy.is_known:
        return None
    return {"accuracy": accuracy.value, "cases": int(cases.value), "baseline": _or_none(rule_of_thumb(found).value)}


def _or_none(value: Any) -> float | None:
    return float(value) if value == value and value is not None and value is not pd.NA else None
