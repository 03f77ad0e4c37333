"""Two runs side by side: each number of each head in both, and sentences on what differs most."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from headscope.later import pd
from headscope.lens.head import HEAD, Head
from headscope.report.findings.evidence import Evidence, plain
from headscope.report.findings.finding import Finding, listed
from headscope.report.schema import Number
from headscope.statistics.columns import describe
from headscope.study.run import Run
from headscope.study.run_by_head import RunByHead

SHOWN = 8  # differences of which each has a sentence
SAME = 1e-6  # numbers that differ by less, as a part of what heads differ by, are the same


def differences(a: Run, b: Run) -> pd.DataFrame:
    """One row for every head and number that both runs have: table, column, a, b, difference (b less a), and `spreads`.

    `spreads` is the difference over the deviation of the numbers of both runs' heads: what makes shares, nats and tokens
    comparable. The largest come first.
    """
    ones, others = a.by_head, b.by_head
    rows = []
    for table in sorted(set(ones.one_row_a_head) & set(others.one_row_a_head)):
        for column in [str(column) for column in ones.tables[table].columns]:
            about = describe(table, column)
            if about is None:
                continue
            heads = [head for head in ones.heads if about.tells_of(head.kind)]
            cells = [(head, ones.cell(head, table, column), others.cell(head, table, column)) for head in heads]
            both = [(head, one.value, other.value) for head, one, other in cells if one.is_known and other.is_known]
            if not both:
                continue
            spread = float(np.std([value for _, *values in both for value in values]))
            for head, one, other in both:
                apart = (other - one) / spread if spread > 0 else 0.0
                rows.append([*head, table, column, one, other, other - one, apart])
    frame = pd.DataFrame(rows, columns=[*HEAD, "table", "column", "a", "b", "difference", "spreads"])
    order = frame["spreads"].abs().sort_values(ascending=False, kind="stable").index
    return frame.loc[order].reset_index(drop=True)


def compare_findings(a: Run, b: Run, apart: pd.DataFrame | None = None) -> list[Finding]:
    """Which heads have another role in the second run, and the numbers that differ most, a sentence a head.

    `apart` is what `differences` gives, where somebody has it already.
    """
    found, apart = a.by_head, differences(a, b) if apart is None else apart
    if apart.empty:
        return [Finding("The two runs have no number of any head in common, so nothing can be compared.", "")]
    made = _other_roles(found, a, b)
    largest = apart[apart["spreads"].abs() > SAME].drop_duplicates(HEAD).head(SHOWN)
    if largest.empty:
        made.append(Finding("The two runs have the same numbers for every head.", str(apart["table"].iloc[0])))
    return made + [_difference(found, row) for row in largest.to_dict("records")]


def _difference(found: RunByHead, row: Mapping[str, object]) -> Finding:
    head = Head.of(row)
    table, column = str(row["table"]), str(row["column"])
    about = describe(table, column)
    assert about is not None
    numbers = {run: Evidence(run) for run in ("a", "b")}
    said = [plain(one.cite(float(str(row[run])), table, column, head), about.unit) for run, one in numbers.items()]
    label = found.label(head)
    text = f"{label}, {about.title[0].lower()}{about.title[1:]}: {said[0]} in the first run, {said[1]} in the second."
    return Finding(text, table, [label], [*numbers["a"].cited, *numbers["b"].cited])


def _other_roles(found: RunByHead, a: Run, b: Run) -> list[Finding]:
    """How many heads of both runs have another role, and which, by what both runs have counted."""
    shared = [name for name in a if name in b]
    ones, others = (Run.of({name: run[name] for name in shared}).roles for run in (a, b))
    both = ones.merge(others, on=HEAD, suffixes=("_a", "_b"))
    changed = both[both["role_a"] != both["role_b"]]
    if changed.empty:
        return [Finding(f"All {len(both)} heads of both runs have the same role in both.", "roles", [], _counts(len(both)))]
    heads = [Head.of(row) for row in changed.to_dict("records")]
    pairs = zip(heads, changed["role_a"], changed["role_b"], strict=True)
    parts = [f"{found.label(head)} ({one}, then {other})" for head, one, other in pairs]
    numbers = [*_counts(len(changed), changed=True), *_counts(len(both))]
    text = f"{len(changed)} of {len(both)} heads have another role in the second run: {listed(parts)}."
    return [Finding(text, "roles", [found.label(head) for head in heads[:6]], numbers)]


def _counts(value: int, changed: bool = False) -> list[Number]:
    """How many heads both runs have; how many of them have another role."""
    of = "count of heads of both runs whose role differs" if changed else "count of heads of both runs"
    return [{"value": float(value), "table": "roles", "column": "role", "of": of, "where": {}, "run": "a and b"}]
