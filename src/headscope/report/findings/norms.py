"""Findings about weights against norms: where a head looks and takes little, or takes more than it looks (kobayashi2020)."""

from collections.abc import Iterator

from headscope.heads.roles import sink_share
from headscope.lens.head import Head
from headscope.report.findings.evidence import Evidence
from headscope.report.findings.finding import Finding, listed
from headscope.report.heads.sentence import SinkNames
from headscope.statistics.kit.categories import CATEGORIES
from headscope.study.run import Run
from headscope.study.run_by_head import Cell

GAP = 0.2  # shares that differ by so much contradict each other
SHOWN = 3  # heads that the sentence names


def contradictions(run: Run) -> Iterator[Finding]:
    """The heads in which weights and norms differ most about their sinks, in one sentence; or that they agree."""
    found, sinks = run.by_head, SinkNames(run)
    pairs: list[tuple[Head, str, Cell, Cell]] = []
    for place in ("first", "separator"):
        for head in found.heads:
            weight, norm = sink_share(found, head, place), sink_share(found, head, place, norm=True)
            if weight.is_known and norm.is_known and not weight.by_norm:
                pairs.append((head, place, weight, norm))
    if not pairs:
        return
    pairs.sort(key=lambda pair: -_gap(pair))
    alike = [pair for pair in pairs if _gap(pair) >= GAP and _kind(pair) == _kind(pairs[0])]
    numbers, said = Evidence(), []
    for head, _, weight, norm in alike[:SHOWN] or pairs[:1]:
        by_weight = numbers.percent(weight.value, weight.table, weight.column, head)
        by_norm = numbers.percent(norm.value, norm.table, norm.column, head)
        said.append((found.label(head), by_weight, by_norm))
    (label, by_weight, by_norm), others = said[0], [f"{one} ({weight} and {norm})" for one, weight, norm in said[1:]]
    place, takes_less = _kind(pairs[0])
    sink = sinks.name(place)
    end = "it looks there and takes little" if takes_less else "it takes more there than it looks"
    text = f"{label} puts {by_weight} of its weight on {sink}, but {by_norm} of its norm: {end}"
    if not alike:
        text = f"Weights and norms agree about sinks: they differ most in {label}, {by_weight} and {by_norm} on {sink}"
    if others:
        text += f"; so {'do' if len(others) > 1 else 'does'} {listed(others)}"
    yield Finding(f"{text}.", pairs[0][2].table, [one for one, _, _ in said], numbers.cited)


def correlations(run: Run) -> Iterator[Finding]:
    """Whether large weights go with long or with short vectors, by category of the token."""
    table = run.get("norm_correlation")
    if table is None:
        return
    sinks = SinkNames(run)
    names = CATEGORIES | {"first": sinks.first, "separator": sinks.separator}
    for (stack, kind), rows in table.dropna(subset=["rho"]).groupby(["stack", "kind"], sort=False):
        numbers, parts = Evidence(), []
        for row in rows.to_dict("records"):
            where = {"stack": stack, "kind": kind, "category": row["category"]}
            rho = numbers.cite(row["rho"], "norm_correlation", "rho", **where)
            parts.append(f"{rho:.2f} on {names.get(row['category'], row['category'])}")
        if not parts:
            continue
        lowest = min(row["rho"] for row in rows.to_dict("records"))
        end = "; below 0, heads look most at what offers least" if lowest < 0 else ""
        text = f"Rank correlation of a weight with the length of what it weighs ({stack} {kind}): {listed(parts)}{end}."
        yield Finding(text, "norm_correlation", [], numbers.cited, abs(lowest))


def _kind(pair: tuple[Head, str, Cell, Cell]) -> tuple[str, bool]:
    """At which sink, and whether the norm is the smaller of the two."""
    return pair[1], pair[3].value < pair[2].value


def _gap(pair: tuple[Head, str, Cell, Cell]) -> float:
    return abs(pair[2].value - pair[3].value)
