"""docs/comparison.md: the tables as people read them, made of a run's JSON and of the features that were checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.page import number

from comparisons.features import ABOUT, feature_table

HEAD = """# Compared with others

The same model, text and machine for every tool, each used as its documentation uses it; `make compare` installs all of
them in an environment of their own, measures again and writes this page. Times are medians of rounds in which the tools
took turns; in brackets, how many times as long as headscope (the median over the rounds). Memory is measured in a
process of its own each time. **Bold** is the best of a column.
"""


def page(run: Mapping[str, Any]) -> str:
    """Markdown: the machine, then a table for each comparison."""
    facts = ", ".join(f"{name} {value}" for name, value in run["machine"].items())
    took = sum(result["minutes"] for result in run["results"].values())
    parts = [HEAD, f"Measured on: {facts}. All of it took {took:.0f} minutes.\n"]
    parts += [section(result) for result in run["results"].values()]
    return "\n".join([*parts, f"## What each does\n\n{ABOUT}\n\n{feature_table()}\n"])


def section(result: Mapping[str, Any]) -> str:
    """One comparison: what was asked for, and a line a tool."""
    lines = result["lines"]
    columns = list(dict.fromkeys(name for line in lines for name in line["cells"]))
    best = {
        name: _best([line["cells"].get(name) for line in lines if not line["tool"].startswith("the model alone")])
        for name in columns
    }
    rows = [f"| | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    for line in lines:
        cells = [_shown(line["cells"].get(name), best[name]) for name in columns]
        rows.append(f"| {line['tool']} | {' | '.join(cells)} |")
    timed = [cell for line in lines for cell in line["cells"].values() if isinstance(cell, Mapping) and cell["unit"] == "s"]
    count = max((len(cell["samples"]) for cell in timed), default=1)
    rounds = f"Rounds: {count}; load of the machine at the start: {result['load']}."
    return "\n".join([f"## {result['title']}\n", f"{result['about']}\n", *rows, "", f"{rounds}\n"])


def _best(cells: Sequence[Any]) -> float | None:
    """The best number of a column: the least, or the longest text; None where there is nothing to compare."""
    numbers = [cell for cell in cells if isinstance(cell, Mapping)]
    if len(numbers) < 2:
        return None
    choose = max if numbers[0]["unit"] == "tokens" else min
    return choose(cell["median"] for cell in numbers)


def _shown(cell: Any, best: float | None) -> str:
    if not isinstance(cell, Mapping):
        return (cell or "").replace("|", "\\|")
    digits = ",.0f" if cell["unit"] == "tokens" else None
    shown = f"{cell['median']:{digits}}" if digits else number(cell["median"])
    shown = f"{shown} {cell['unit']}".strip()
    shown = f"**{shown}**" if cell["median"] == best else shown
    return shown if cell["compared"] is None else f"{shown} ({number(cell['compared'])} {cell['compared_unit']})"
