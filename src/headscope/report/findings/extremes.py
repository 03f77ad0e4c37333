"""Findings about the heads at the ends of a scale: who looks furthest, most narrowly, who are most alike; and cautions."""

from collections.abc import Iterator
from typing import Any

from headscope.lens.head import Head
from headscope.report.findings.evidence import Evidence, plain
from headscope.report.findings.finding import Finding
from headscope.statistics.columns import describe
from headscope.statistics.table_names import parse
from headscope.study.run import Run

FEW = 20_000  # tokens: with fewer, a head's numbers depend on what they happen to be
SCALES = {  # by statistic, a column whose ends are worth a sentence: what the head with most does, and with least
    "distance": ("distance", "looks furthest", "looks least far"),
    "entropy": ("entropy", "looks most broadly", "looks most narrowly"),
    "variability": ("variability", "follows the text most", "depends least on the text"),
    "dependencies": ("either", "gives most to syntactically related words", "gives least to them"),
    "dispersion": ("cv", "has the most uneven vectors", "has the most even vectors"),
}


def extremes(run: Run) -> Iterator[Finding]:
    """The heads at both ends of a scale, and the median."""
    found = run.by_head
    for table in found.one_row_a_head:
        name = parse(table)
        if name is None or name.statistic not in SCALES or name.measure != "weight":
            continue
        column, most, least = SCALES[name.statistic]
        about = describe(table, column)
        if about is None or column not in found.tables[table]:
            continue
        rows = found.tables[table].dropna(subset=[column])
        where: dict[str, Any] = {"kind": "self"} if about.positional and (rows["kind"] == "cross").any() else {}
        rows = rows[rows["kind"] == "self"] if where else rows
        if len(rows) < 3:
            continue
        values = rows[column].astype(float)
        numbers, labels, parts = Evidence(), [], []
        for place, does in ((values.idxmax(), most), (values.idxmin(), least)):
            head = Head.of(rows.loc[place])
            labels.append(found.label(head))
            value = numbers.cite(values.loc[place], table, column, head)
            parts.append(f"{found.label(head)} {does} ({plain(value, about.unit)})")
        middle = plain(numbers.cite(float(values.median()), table, column, of="median", **where), about.unit)
        text = f"{about.title}: {parts[0]}, {parts[1]}; the median head has {middle}."
        yield Finding(text, table, labels, numbers.cited)


def alike(run: Run) -> Iterator[Finding]:
    """The two heads that look most alike."""
    table = run.get("jensen_shannon")
    if table is None or table["divergence"].notna().sum() < 3:
        return
    row = table.loc[table["divergence"].astype(float).idxmin()]
    one, other = Head.of(row), Head(row["stack"], row["kind"], int(row["other_layer"]), int(row["other_head"]))
    numbers = Evidence()
    where: dict[str, Any] = {"other_layer": other.layer, "other_head": other.head}
    nats = numbers.cite(float(row["divergence"]), "jensen_shannon", "divergence", one, **where)
    middle = numbers.cite(float(table["divergence"].median()), "jensen_shannon", "divergence", of="median")
    labels = [run.by_head.label(one), run.by_head.label(other)]
    text = f"{labels[0]} and {labels[1]} look most alike: {nats:.3f} nats apart, the median pair {middle:.3f}."
    yield Finding(text, "jensen_shannon", labels, numbers.cited)


def caution(run: Run) -> Iterator[Finding]:
    """That a run has read little, where it has."""
    counts = {name: run.manifest.get("counts", {}).get(name) for name in ("tokens", "documents")}
    if counts["tokens"] is None or counts["tokens"] >= FEW:
        return
    numbers = Evidence()
    parts = [f"{numbers.cite(n, 'manifest', f'counts.{name}'):,} {name}" for name, n in counts.items() if n is not None]
    read = " of ".join(parts)
    text = f"This run has read {read}: small differences between heads may be chance, and other texts may change them."
    yield Finding(text, "manifest", [], numbers.cited)
