"""Findings about weights against norms: where a head looks and takes little, or takes more than it looks (kobayashi2020)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from headscope.heads.roles import parked_share
from headscope.heads.run_by_head import Cell, RunByHead
from headscope.lens.head import Head
from headscope.report.findings.evidence import Evidence
from headscope.report.findings.finding import Finding, listed
from headscope.report.heads.sentence import SinkNames
from headscope.statistics.columns import CATEGORIES

CONTRADICTED, CORRELATED = 70.0, 35.0  # what findings are sorted by
GAP = 0.2  # shares that differ by so much contradict each other
SHOWN = 3  # heads of which each has a sentence


def contradictions(found: RunByHead, named: pd.DataFrame) -> Iterator[Finding]:
    """The heads in which weights and norms differ most about what is parked; or that they agree."""
    places = SinkNames(found.all_tables)
    pairs: list[tuple[Head, str, Cell, Cell]] = []
    for place in ("first", "separator"):
        for head in found.heads:
            weight, norm = parked_share(found, head, place), parked_share(found, head, place, norm=True)
            if weight.there and norm.there and "norm" not in f"{weight.table} {weight.column}":
                pairs.append((head, place, weight, norm))
    if not pairs:
        return
    pairs.sort(key=lambda pair: -abs(pair[2].value - pair[3].value))
    for head, place, weight, norm in pairs[:SHOWN] if _gap(pairs[0]) >= GAP else ():
        told, label = Evidence(), found.label(head)
        by_weight = told.percent(weight.value, weight.table, weight.column, head)
        by_norm = told.percent(norm.value, norm.table, norm.column, head)
        end = "it looks there and takes little" if norm.value < weight.value else "it takes more there than it looks"
        text = f"{label} puts {by_weight} of its weight on {places.name(place)}, but {by_norm} of its norm: {end}."
        yield Finding(text, weight.table, [label], told.numbers, CONTRADICTED + _gap((head, place, weight, norm)))
    if _gap(pairs[0]) < GAP:
        head, place, weight, norm = pairs[0]
        told, label = Evidence(), found.label(head)
        by_weight = told.percent(weight.value, weight.table, weight.column, head)
        by_norm = told.percent(norm.value, norm.table, norm.column, head)
        text = (
            f"Weights and norms agree about what is parked: they differ most in {label}, {by_weight} and {by_norm} on "
            f"{places.name(place)}."
        )
        yield Finding(text, weight.table, [label], told.numbers, CONTRADICTED - 1)


def correlations(found: RunByHead, named: pd.DataFrame) -> Iterator[Finding]:
    """Whether large weights go with long or with short vectors, by category of the token."""
    table = found.all_tables.get("norm_correlation")
    if table is None:
        return
    places = SinkNames(found.all_tables)
    names = CATEGORIES | {"first": places.first, "separator": places.separator}
    for (stack, kind), rows in table.dropna(subset=["rho"]).groupby(["stack", "kind"], sort=False):
        told, parts = Evidence(), []
        for row in rows.to_dict("records"):
            where = {"stack": stack, "kind": kind, "category": row["category"]}
            rho = told.keep(row["rho"], "norm_correlation", "rho", **where)
            parts.append(f"{rho:.2f} on {names.get(row['category'], row['category'])}")
        if not parts:
            continue
        lowest = min(row["rho"] for row in rows.to_dict("records"))
        end = "; below 0, heads look most at what offers least" if lowest < 0 else ""
        text = f"Rank correlation of a weight with the length of what it weighs ({stack} {kind}): {listed(parts)}{end}."
        yield Finding(text, "norm_correlation", [], told.numbers, CORRELATED + abs(lowest))


def _gap(pair: tuple[Head, str, Cell, Cell]) -> float:
    return abs(pair[2].value - pair[3].value)
