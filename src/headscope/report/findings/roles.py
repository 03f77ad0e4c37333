"""Findings out of the roles of heads: which heads look at a fixed place, park, look broadly, repeat."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from headscope.heads.roles import HALF, NO_ROLE, parked_share
from headscope.heads.run_by_head import RunByHead
from headscope.lens.head import Head
from headscope.report.findings.evidence import Evidence
from headscope.report.findings.finding import Finding, heads, listed
from headscope.report.heads.sentence import SinkNames

TABLE = "roles"  # what numbers that count roles are counted in: `heads.roles.roles(tables)`
OVERVIEW, REPEATED, PLACED, PARKED, BROAD = 100.0, 60.0, 50.0, 40.0, 30.0  # what findings are sorted by

_AT = {
    "previous token": "the previous token",
    "next token": "the next token",
    "same token": "the very token that looks",
    "two tokens before": "the token two places before",
    "two tokens after": "the token two places after",
    "nearby tokens": "the tokens nearby, at most two away",
}
_FAMILIES = {
    "syntax": "follow a syntactic relation",
    "coreference": "look for antecedents",
    "repetition": "look for earlier copies of a token",
    "position": "look at a fixed place or nearby",
    "punctuation": "look at periods and commas",
    "broad": "look broadly",
    "separator": "park on separators",
    "sink": "park on the first token or another sink",
}


def overview(found: RunByHead, named: pd.DataFrame) -> Iterator[Finding]:
    """How many heads have a role, and of which kind."""
    told = Evidence()
    whole = told.count(named, TABLE)
    unnamed = named[named["role"] == NO_ROLE]
    parts = []
    for family, does in _FAMILIES.items():
        of_family = named[named["family"] == family]
        if len(of_family):
            verb, rest = does.split(" ", 1)
            parts.append(
                f"{told.count(of_family, TABLE, family=family)} {verb if len(of_family) > 1 else verb + 's'} {rest}"
            )
    none = told.count(unnamed, TABLE, role=NO_ROLE)
    if not parts:
        yield Finding(f"No role was found for any of {whole} heads.", TABLE, [], told.numbers, OVERVIEW)
        return
    text = f"Of {whole} heads, {listed(parts, len(parts))}; for {none} no role was found in what was counted."
    yield Finding(text, TABLE, [], told.numbers, OVERVIEW)


def placed(found: RunByHead, named: pd.DataFrame) -> Iterator[Finding]:
    """Which heads look at a fixed place, one finding a place; or that none does."""
    if not any(name.startswith(("beyond_sinks", "offsets")) for name in found.tables):
        return
    of_place = named[named["family"] == "position"]
    if of_place.empty:
        told = Evidence()
        text = (
            f"None of {told.count(named, TABLE)} heads gives over half of what it does not park to a place beside the token."
        )
        yield Finding(text, TABLE, [], told.numbers, PLACED)
    for role, some in of_place.groupby("role", sort=False):
        told = Evidence()
        count = told.count(some, TABLE, role=role)
        ranked = some.sort_values("score", ascending=False, kind="stable")
        named_heads, labels = _with_scores(found, ranked, told)
        look = "looks" if len(some) == 1 else "look"
        whole = "all attention" if str(ranked["table"].iloc[0]).startswith("offsets") else "what is not parked"
        text = f"{heads(count)} {look} at {_AT[str(role)]}, by share of {whole}: {listed(named_heads)}."
        yield Finding(text, str(ranked["table"].iloc[0]), labels, told.numbers, PLACED + float(ranked["score"].iloc[0]))


def repeated(found: RunByHead, named: pd.DataFrame) -> Iterator[Finding]:
    """Induction and duplicate-token heads, where random tokens were repeated."""
    if "repeats" not in found.tables:
        return
    for role, at in (
        ("induction", "the token that followed an earlier copy of their own"),
        ("duplicate token", "an earlier copy of their own token"),
    ):
        told = Evidence()
        some = named[named["role"] == role].sort_values("score", ascending=False, kind="stable")
        name = role.replace(" ", "-")
        if some.empty:
            whole = told.count(named, TABLE)
            text = (
                f"On repeated random tokens, no {name} head was found among {whole}: none gives most of what it does not "
                f"park to {at.replace('their', 'its')}."
            )
            yield Finding(text, "repeats", [], told.numbers, REPEATED - 1)
            continue
        count = told.count(some, TABLE, role=role)
        named_heads, labels = _with_scores(found, some, told)
        one = len(some) == 1
        looks = f"{name} head looks at {at.replace('their', 'its')}" if one else f"{name} heads look at {at}"
        text = f"On repeated random tokens, {count} {looks}, by share of what is not parked: {listed(named_heads)}."
        yield Finding(text, "repeats", labels, told.numbers, REPEATED + float(some["score"].iloc[0]))


def parking(found: RunByHead, named: pd.DataFrame) -> Iterator[Finding]:
    """How much is parked on average, by weight and by norm, and which heads do little else."""
    places = SinkNames(found.all_tables)
    for place in ("first", "separator"):
        cells = {head: parked_share(found, head, place) for head in found.heads}
        there = {head: cell for head, cell in cells.items() if cell.there}
        if not there or not any(cell.value for cell in there.values()):
            continue
        told = Evidence()
        table, column = next((cell.table, cell.column) for cell in there.values())
        mean = sum(cell.value for cell in there.values()) / len(there)
        average = told.percent(mean, table, column, of="mean")
        what = "norm" if table.endswith("_norm") else "attention"
        text = f"On average a head gives {average} of its {what} to {places.name(place)}"
        most = sorted(there, key=lambda head: -there[head].value)[:3]
        parts = [f"{found.label(head)} ({told.percent(there[head].value, table, column, head)})" for head in most]
        text += f"; most in {listed(parts)}."
        labels = [found.label(head) for head in most]
        yield Finding(text, table, labels, told.numbers, PARKED + mean)
    yield from _separators(found, named, places)


def _separators(found: RunByHead, named: pd.DataFrame, places: SinkNames) -> Iterator[Finding]:
    """Whether any head has a separator for its role."""
    counted = [parked_share(found, head, "separator") for head in found.heads]
    if not any(cell.value > 0 for cell in counted):
        return
    told = Evidence()
    some = named[named["role"] == "separator"].sort_values("score", ascending=False, kind="stable")
    if some.empty:
        text = f"None of {told.count(named, TABLE)} heads does little but attend to {places.separator}."
        yield Finding(text, TABLE, [], told.numbers, PARKED - 1)
        return
    count = told.count(some, TABLE, role="separator")
    named_heads, labels = _with_scores(found, some, told)
    does = "does little but attend" if len(some) == 1 else "do little but attend"
    text = f"{heads(count)} {does} to {places.separator}: {listed(named_heads)}."
    yield Finding(text, str(some["table"].iloc[0]), labels, told.numbers, PARKED + 1)


def broad(found: RunByHead, named: pd.DataFrame) -> Iterator[Finding]:
    """Which heads look at everything a little."""
    some = named[named["role"] == "broad"].sort_values("score", ascending=False, kind="stable")
    if some.empty:
        return
    told = Evidence()
    count = told.count(some, TABLE, role="broad")
    parts, labels = [], []
    for row in some.head(6).to_dict("records"):
        head = Head.of(row)
        labels.append(found.label(head))
        parts.append(f"{found.label(head)} ({told.keep(row['score'], row['table'], row['column'], head):.2f})")
    more = "" if len(some) <= len(parts) else " and others"
    spread = "spreads" if len(some) == 1 else "spread"
    text = f"{heads(count)} {spread} attention almost evenly, 1 being all alike: {', '.join(parts)}{more}."
    yield Finding(text, str(some["table"].iloc[0]), labels, told.numbers, BROAD)


def second_sinks(found: RunByHead, named: pd.DataFrame) -> Iterator[Finding]:
    """Whether heads park on one more token of each text."""
    some = named[named["role"] == "second sink"].sort_values("score", ascending=False, kind="stable")
    if some.empty:
        return
    told = Evidence()
    count = told.count(some, TABLE, role="second sink")
    named_heads, labels = _with_scores(found, some, told)
    give, they = ("gives", "it does") if len(some) == 1 else ("give", "they do")
    text = (
        f"{heads(count)} {give} over half of what {they} not park to one token of each text, which seems to be a second "
        f"sink: {listed(named_heads)}."
    )
    yield Finding(text, str(some["table"].iloc[0]), labels, told.numbers, PARKED + HALF)


def _with_scores(found: RunByHead, rows: pd.DataFrame, told: Evidence, shown: int = 6) -> tuple[list[str], list[str]]:
    """`label (score)` of the first heads and a stand-in for the others; and the labels of all that are named."""
    parts, labels = [], []
    for row in rows.head(shown).to_dict("records"):
        head = Head.of(row)
        labels.append(found.label(head))
        parts.append(f"{found.label(head)} ({told.percent(row['score'], row['table'], row['column'], head)})")
    return parts + [""] * (len(rows) - len(parts)), labels
