"""docs/performance.md: a run's results as a page that people read. It is made of the run's JSON, and of nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.catalogue import BENCHMARKS, WHEN_NAMED, about

HEAD = """# Performance

Speeds are ratios: two things measured in turn, in one run, on one machine; a ratio is the median over the rounds. Spread is
how many times as long the slowest round took as the fastest: near 1 the machine was quiet, above 1.5 a number says more of
the machine than of the code. `make bench` measures all of it again and writes this page.
"""


def page(run: Mapping[str, Any]) -> str:
    """Markdown: the machine, then a table for each benchmark."""
    facts = ", ".join(f"{name} {value}" for name, value in run["machine"].items())
    took = f" The whole run took {sum(run['seconds'].values()) / 60:.1f} minutes."
    parts = [HEAD, f"Measured on: {facts}; {run['settings']['repeats']} rounds.{took}\n"]
    parts += [_section(name, run["seconds"][name], rows) for name, rows in run["results"].items()]
    return "\n".join(parts)


def _section(name: str, seconds: int, rows: list[dict[str, Any]]) -> str:
    lines = [f"## {name.replace('_', ' ').capitalize()}\n"]
    if run := (BENCHMARKS | WHEN_NAMED).get(name):
        lines.append(f"{about(run)} (It takes {seconds} s.)\n")
    lines += ["| measured | median | compared | with | target | spread |", "| --- | ---: | ---: | --- | ---: | ---: |"]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cells(row: dict[str, Any]) -> list[str]:
    compared = "" if row["compared"] is None else f"{number(row['compared'])} {row['compared_unit']}"
    target = "" if row["target"] is None else f"{row['target']} ({'met' if row['met'] else 'missed'})"
    spread = max(row["samples"]) / min(row["samples"]) if row["unit"] == "s" and min(row["samples"]) > 0 else None
    median = f"{number(row['median'])} {row['unit']}"
    return [
        row["what"].replace("|", "\\|"),
        median,
        compared,
        row["versus"],
        target,
        "" if spread is None else f"{spread:.2f}",
    ]


def number(value: float) -> str:
    """
    >>> number(0.0312), number(1.234), number(1234.5)
    ('0.031', '1.23', '1,234')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}"
