"""Findings out of the roles of heads: which heads look at a fixed place, at their sinks, broadly, at what came before."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from headscope.heads.patterns import HALF
from headscope.heads.role_table import FAMILIES, NO_ROLE, role_named
from headscope.heads.roles import sink_share
from headscope.lens.head import Head
from headscope.report.findings.evidence import Evidence
from headscope.report.findings.finding import Finding, heads, listed
from headscope.report.heads.sentence import SinkNames
from headscope.study.run import Run

TABLE = "roles"  # what numbers that count roles are counted in: `run.roles`
SHOWN = 6  # heads that a sentence names


def overview(run: Run) -> Iterator[Finding]:
    """How many heads have a role, and of which kind."""
    numbers = Evidence()
    whole = numbers.count(run.roles, TABLE)
    parts = []
    for family in FAMILIES:
        some = run.roles[run.roles["family"] == family.name]
        if len(some) and family.name != "none":
            verb, rest = family.does.split(" ", 1)
            does = f"{verb if len(some) > 1 else verb + 's'} {rest}"
            parts.append(f"{numbers.count(some, TABLE, family=family.name)} {does}")
    none = numbers.count(run.roles[run.roles["role"] == NO_ROLE], TABLE, role=NO_ROLE)
    text = f"No role was found for any of {whole} heads."
    if parts:
        text = f"Of {whole} heads, {listed(parts, len(parts))}; for {none} no role was found in what was counted."
    yield Finding(text, TABLE, [], numbers.cited)


def placed(run: Run) -> Iterator[Finding]:
    """Which heads look at a fixed place, one finding a place; or that none does."""
    if not any(name.startswith(("beyond_sinks", "offsets")) for name in run.by_head.tables):
        return
    of_place = run.roles[run.roles["family"] == "position"]
    if of_place.empty:
        numbers = Evidence()
        whole = numbers.count(run.roles, TABLE)
        text = f"None of {whole} heads gives over half of what goes beyond its sinks to a place beside the token."
        yield Finding(text, TABLE, [], numbers.cited)
    for role in of_place["role"].unique():
        some, numbers = _with_role(run, role), Evidence()
        count = numbers.count(some, TABLE, role=role)
        parts, labels = _with_scores(run, some, numbers)
        look = "looks" if len(some) == 1 else "look"
        table = str(some["table"].iloc[0])
        whole = "all attention" if table.startswith("offsets") else "what goes beyond sinks"
        text = f"{heads(count)} {look} at {role_named(role, 'position').looks_at}, by share of {whole}: {listed(parts)}."
        yield Finding(text, table, labels, numbers.cited, float(some["score"].iloc[0]))


def repeated(run: Run) -> Iterator[Finding]:
    """Induction and duplicate-token heads, where random tokens were repeated."""
    if "repeats" not in run.by_head.tables:
        return
    for role in ("induction", "duplicate token"):
        some, numbers = _with_role(run, role), Evidence()
        name, at = role.replace(" ", "-"), role_named(role, "repetition").looks_at
        if some.empty:
            text = (
                f"On repeated random tokens, no {name} head was found among {numbers.count(run.roles, TABLE)}: none gives "
                f"most of what goes beyond its sinks to {at.format(their='its')}."
            )
            yield Finding(text, "repeats", [], numbers.cited, -1)
            continue
        count = numbers.count(some, TABLE, role=role)
        parts, labels = _with_scores(run, some, numbers)
        one = len(some) == 1
        looks = (
            f"{name} head looks at {at.format(their='its')}" if one else f"{name} heads look at {at.format(their='their')}"
        )
        text = f"On repeated random tokens, {count} {looks}, by share of what goes beyond sinks: {listed(parts)}."
        yield Finding(text, "repeats", labels, numbers.cited, float(some["score"].iloc[0]))


def sinks(run: Run) -> Iterator[Finding]:
    """How much goes to sinks on average, in which heads most, and which heads do little else."""
    found, names = run.by_head, SinkNames(run)
    for place in ("first", "separator"):
        cells = {head: sink_share(found, head, place) for head in found.heads}
        known = {head: cell for head, cell in cells.items() if cell.is_known}
        if not any(cell.value for cell in known.values()):
            continue
        numbers = Evidence()
        table, column = next((cell.table, cell.column) for cell in known.values())
        mean = sum(cell.value for cell in known.values()) / len(known)
        average = numbers.percent(mean, table, column, of="mean")
        what = "norm" if table.endswith("_norm") else "attention"
        most = sorted(known, key=lambda head: -known[head].value)[:3]
        parts = [f"{found.label(head)} ({numbers.percent(known[head].value, table, column, head)})" for head in most]
        text = f"On average a head gives {average} of its {what} to {names.name(place)}; most in {listed(parts)}."
        yield Finding(text, table, [found.label(head) for head in most], numbers.cited, mean)
    if any(sink_share(found, head, "separator").value > 0 for head in found.heads):
        yield _separators(run, names.separator)
    yield from _second_sinks(run)


def _separators(run: Run, separator: str) -> Finding:
    """Whether any head has a separator for its role."""
    some, numbers = _with_role(run, "separator"), Evidence()
    if some.empty:
        text = f"None of {numbers.count(run.roles, TABLE)} heads does little but attend to {separator}."
        return Finding(text, TABLE, [], numbers.cited, -1)
    count = numbers.count(some, TABLE, role="separator")
    parts, labels = _with_scores(run, some, numbers)
    does = "does little but attend" if len(some) == 1 else "do little but attend"
    text = f"{heads(count)} {does} to {separator}: {listed(parts)}."
    return Finding(text, str(some["table"].iloc[0]), labels, numbers.cited, 1)


def _second_sinks(run: Run) -> Iterator[Finding]:
    """Whether heads have one more token of each text for a sink."""
    some, numbers = _with_role(run, "second sink"), Evidence()
    if some.empty:
        return
    count = numbers.count(some, TABLE, role="second sink")
    parts, labels = _with_scores(run, some, numbers)
    give, its = ("gives", "its") if len(some) == 1 else ("give", "their")
    text = (
        f"{heads(count)} {give} over half of what goes beyond {its} sinks to one token of each text, which seems to be a "
        f"second sink: {listed(parts)}."
    )
    yield Finding(text, str(some["table"].iloc[0]), labels, numbers.cited, HALF)


def broad(run: Run) -> Iterator[Finding]:
    """Which heads look at everything a little."""
    some, numbers = _with_role(run, "broad"), Evidence()
    if some.empty:
        return
    count = numbers.count(some, TABLE, role="broad")
    parts, labels = [], []
    for row in some.head(SHOWN).to_dict("records"):
        head = Head.of(row)
        labels.append(run.by_head.label(head))
        parts.append(f"{labels[-1]} ({numbers.cite(row['score'], row['table'], row['column'], head):.2f})")
    more = "" if len(some) <= len(parts) else " and others"
    spread = "spreads" if len(some) == 1 else "spread"
    text = f"{heads(count)} {spread} attention almost evenly, 1 being all alike: {', '.join(parts)}{more}."
    yield Finding(text, str(some["table"].iloc[0]), labels, numbers.cited)


def _with_role(run: Run, role: str) -> pd.DataFrame:
    """The heads of one role, the best first."""
    return run.roles[run.roles["role"] == role].sort_values("score", ascending=False, kind="stable")


def _with_scores(run: Run, rows: pd.DataFrame, numbers: Evidence) -> tuple[list[str], list[str]]:
    """`label (score)` of the first heads and a stand-in for the others; and the labels of all that are named."""
    parts, labels = [], []
    for row in rows.head(SHOWN).to_dict("records"):
        head = Head.of(row)
        labels.append(run.by_head.label(head))
        parts.append(f"{labels[-1]} ({numbers.percent(row['score'], row['table'], row['column'], head)})")
    return parts + [""] * (len(rows) - len(parts)), labels
