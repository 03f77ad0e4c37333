"""Description: all that a report shows of a run, as plain JSON. The page draws it, the server serves it, tests read it."""

from __future__ import annotations

from pathlib import Path

from headscope.errors import InputError
from headscope.heads.role_table import ABOUT, FAMILIES, ROLES
from headscope.later import pd
from headscope.report import schema
from headscope.report.comparison import change_statistic, compared_statistics, compared_tables, opening
from headscope.report.findings.differences import differences
from headscope.report.findings.findings import compare_findings, findings
from headscope.report.heads.atlas import scatters_of, statistics_of
from headscope.report.heads.cards import cards
from headscope.report.heads.pictures import is_drawn
from headscope.report.league import OPENS, league_of, with_statistics
from headscope.report.table_json import described_table
from headscope.study.run import Run

FORMAT = 1


def description(run: Run | str | Path, other: Run | str | Path | None = None, *, title: str = "") -> schema.Report:
    """What a report on `run` shows; with `other`, a second run beside it, and what differs from head to head."""
    one = checked(Run.open(run))
    heads, titles, league = cards(one), _titles(one), league_of(one)
    seen, named = with_statistics(one)
    alone: schema.Report = {
        "format": FORMAT,
        "title": title or one.title,
        "runs": [_described(one)],
        "findings": [found.as_json() for found in findings(one)],
        "compared": [],
        "heads": heads,
        "roles": _roles(),
        "statistics": statistics_of(seen, heads, {**titles, **named}),
        "scatters": scatters_of(one, [head["name"] for head in heads]),
        "tables": [described_table(name, table, titles) for name, table in _shown(one).items()],
        "figures": _figures(one.folder, titles),
        "league": league,
        "left_out": one.manifest.get("left_out", []),
        "state": OPENS if league else "",
    }
    return alone if other is None else _compared(alone, one, checked(Run.open(other)), title)


def _compared(alone: schema.Report, one: Run, two: Run, title: str) -> schema.Report:
    """A report on one run when a second stands beside it."""
    if not set(one.heads) & set(two.heads):  # models of two shapes can stand in two reports, not in one
        raise InputError(f"{one.folder} and {two.folder} have no head in common: make a report of each.")
    theirs = {head["name"]: head for head in cards(two)}
    beside, titles, apart = compared_tables(one, two), _titles(one), differences(one, two)
    statistics = compared_statistics(
        alone["statistics"], statistics_of(with_statistics(two)[0], alone["heads"], _titles(two))
    )
    return {
        **alone,
        "title": title or _title_of_both(one, two),
        "runs": [_described(one), _described(two)],
        "compared": [found.as_json() for found in compare_findings(one, two, apart)],
        "heads": [{**head, "other": _role(theirs.get(head["name"]))} for head in alone["heads"]],
        "statistics": [*statistics, change_statistic(apart, alone["heads"])],
        "league": None,  # of one run alone: two are two pages
        "state": opening(apart, statistics),
        "tables": [
            described_table(name, beside.get(name, table), titles, compared=name in beside)
            for name, table in _shown(one).items()
        ],
    }


def checked(run: Run) -> Run:
    """A run that there is something to report of, or a sentence about what is missing."""
    if not run.manifest.get("finished"):
        raise InputError(
            f"{run.folder} is not finished, so there is nothing to report yet: run the command that began it again."
        )
    if not run.tables:
        raise InputError(f"{run.folder} has no tables, so there is nothing to report: run the command that made it again.")
    return run


def _title_of_both(one: Run, two: Run) -> str:
    """Two models by their names; two runs of one model by the runs' names."""
    if one.title != two.title:
        return f"{one.title} and {two.title}"
    return f"{one.title}: {one.folder.resolve().name} and {two.folder.resolve().name}"


def _titles(run: Run) -> dict[str, str]:
    """What a paper's run calls its own tables."""
    return {**run.manifest.get("results", {}), "roles": "Roles"}


def _shown(run: Run) -> dict[str, pd.DataFrame]:
    """The run's tables, and before them the roles that were given out of them: findings quote these. What cards draw is left
    out."""
    return {"roles": run.roles, **{name: run[name] for name in run if not is_drawn(name)}}


def _described(run: Run) -> schema.DescribedRun:
    facts = [schema.Fact(name=name, value=value) for name, value in run.facts.items()]
    return {"name": run.folder.resolve().name, "facts": facts}


def _roles() -> schema.Roles:
    families = [
        schema.Family(name=one.name, title=one.title or one.name, about=one.about, light=one.light, dark=one.dark)
        for one in FAMILIES
    ]
    return {"about": ABOUT, "families": families, "marks": {role.name: role.mark for role in ROLES}}


def _figures(run: Path, titles: dict[str, str]) -> list[schema.Figure]:
    """Every figures/*.svg as text, to be shown in images, where it can do nothing; in the paper's order, then by name."""
    order = {name: place for place, name in enumerate(titles)}
    files = sorted((run / "figures").glob("*.svg"), key=lambda file: (order.get(file.stem, len(order)), file.stem))
    return [{"name": file.stem, "title": titles.get(file.stem, file.stem), "svg": _text(file)} for file in files]


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read as an SVG: make the run's figures again, or take the file away.") from error


def _role(head: schema.Head | None) -> schema.GivenRole | None:
    return None if head is None else {"role": head["role"], "family": head["family"], "rule": head["rule"]}
