"""Description: all that a report shows of a run, as plain JSON. The page draws it, the server serves it, tests read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from headscope.errors import InputError
from headscope.heads.roles import roles
from headscope.report.comparison import check_same_heads, compared_statistics, compared_tables
from headscope.report.figures_json import figures_of
from headscope.report.findings.findings import Finding, compare_findings, findings
from headscope.report.heads.atlas import heads_of, scatters_of, statistics_of
from headscope.report.heads.cards import cards
from headscope.report.run_facts import finished_manifest, run_facts
from headscope.report.table_json import described_table
from headscope.report.tables import tables_of

FORMAT = 1


def description(run: str | Path, other: str | Path | None = None, *, title: str = "") -> dict[str, Any]:
    """What a report on `run` shows; with `other`, a second run beside it, and what differs from head to head."""
    one = _Loaded(Path(run))
    described: dict[str, Any] = {
        "format": FORMAT,
        "title": title or one.title,
        "runs": [one.described()],
        "findings": [_finding(found) for found in findings(one.tables, one.manifest)],
        "compared": [],
        "heads": one.heads,
        "statistics": statistics_of(one.folder, one.cards, one.titles),
        "scatters": scatters_of(one.tables, one.names),
        "tables": [described_table(name, table, one.titles) for name, table in one.shown.items()],
        "figures": figures_of(one.folder, one.titles),
        "leftOut": one.manifest.get("left_out", []),
    }
    if other is not None:
        described |= _compared(one, _Loaded(Path(other)), described["statistics"], title)
    return described


def _compared(one: _Loaded, two: _Loaded, statistics: list[dict[str, Any]], title: str) -> dict[str, Any]:
    """What changes in a description when a second run stands beside the first."""
    check_same_heads(one.folder, two.folder, one.names, two.names)
    theirs = {head["name"]: head for head in two.heads}
    shared = {name: table for name, table in one.tables.items() if name in two.tables}
    beside = compared_tables(one.folder, two.folder, shared)
    return {
        "title": title or _title_of_both(one, two),
        "runs": [one.described(), two.described()],
        "compared": [_finding(found) for found in compare_findings(one.tables, two.tables)],
        "heads": [{**head, "other": _role(theirs.get(head["name"]))} for head in one.heads],
        "statistics": compared_statistics(statistics, statistics_of(two.folder, one.cards, two.titles)),
        "tables": [
            described_table(name, beside.get(name, table), one.titles, compared=name in beside)
            for name, table in one.shown.items()
        ],
    }


def _title_of_both(one: _Loaded, two: _Loaded) -> str:
    """Two models by their names; two runs of one model by the runs' names."""
    if one.title != two.title:
        return f"{one.title} and {two.title}"
    return f"{one.title}: {one.folder.resolve().name} and {two.folder.resolve().name}"


class _Loaded:
    """A run, read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = finished_manifest(folder)
        self.tables: dict[str, pd.DataFrame] = tables_of(folder)
        if not self.tables:
            raise InputError(f"{folder} has no tables, so there is nothing to report: run the command that made it again.")
        self.titles: dict[str, str] = {**self.manifest.get("results", {}), "roles": "Roles"}
        self.cards = cards(self.tables)
        self.heads = heads_of(self.cards)
        self.names = [head["name"] for head in self.heads]

    @property
    def shown(self) -> dict[str, pd.DataFrame]:
        """The run's tables, and before them the roles that were given out of them: findings quote these."""
        return {"roles": roles(self.tables), **self.tables}

    @property
    def title(self) -> str:
        name, kind = self.manifest["model"]["name"], self.manifest["kind"]
        return name if kind == "study" else f"{name}, {kind}"

    def described(self) -> dict[str, Any]:
        return {"name": self.folder.resolve().name, "facts": run_facts(self.folder, self.manifest)}


def _role(head: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if head is None else {name: head[name] for name in ("role", "family", "rule")}


def _finding(found: Finding) -> dict[str, Any]:
    return {"text": found.text, "heads": found.heads, "table": found.table, "numbers": found.numbers}
