"""How results are shown, and how they are kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.rows import Row

BUSY = 1.5  # slowest round over fastest, above which times say more about the machine than about the code


def console() -> Console:
    """Colours on a terminal; elsewhere plain lines that are wide enough for a table."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=140)


def show(out: Console, name: str, about: str, rows: list[Row], quick: bool) -> None:
    """One benchmark's table."""
    out.print(Text.assemble((name, "bold"), f"  {about}"))
    table = Table(box=None, header_style="bold")
    for column in ("measured", "median", "from, to", "compared", "", "target", ""):
        table.add_column(column, justify="left" if column in ("measured", "") else "right")
    for row in rows:
        table.add_row(row.what, *_numbers(row), _verdict(row, quick))
    out.print(table)
    out.print()


def show_summary(out: Console, results: dict[str, list[Row]], quick: bool) -> None:
    """The targets again, counted."""
    if quick:
        out.print("Tiny shapes: this run shows that the benchmarks work. Its numbers say nothing about the targets.")
        return
    judged = [(name, row) for name, rows in results.items() for row in rows if row.met is not None]
    missed = [f"{name}: {row.what}" for name, row in judged if not row.met]
    noise = max(row.spread for rows in results.values() for row in rows)
    if noise > BUSY:
        busy = f"Busy machine: one and the same thing took up to {noise:.1f} times as long in one round as in another."
        out.print(Text(f"{busy} Trust no ratio of times here; run again when it is quiet.", "yellow"))
    if judged:
        out.print(f"Targets: {len(judged) - len(missed)} met, {len(missed)} missed{''.join(f'; {one}' for one in missed)}.")


def as_json(
    machine: dict[str, Any], settings: dict[str, Any], took: dict[str, float], results: dict[str, list[Row]]
) -> dict[str, Any]:
    """All of a run, for machines, and for the page that is made of it; `took` are the seconds of each benchmark."""
    rows = {name: [row.to_json() for row in found] for name, found in results.items()}
    seconds = {name: round(taken) for name, taken in took.items()}
    return {"machine": machine, "settings": settings, "seconds": seconds, "results": rows}


def write(path: Path, text: str) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


_DIGITS = {"s": 3, "ms": 1, "KB": 1}  # behind the point


def _numbers(row: Row) -> tuple[str, str, str, str, str]:
    median = f"{row.median:,.{_DIGITS.get(row.unit, 0)}f} {row.unit}"
    between = f"{min(row.samples):.3f}, {max(row.samples):.3f}" if row.unit == "s" else ""
    if row.compared is None:
        return median, between, "", "", ""
    digits = ",.0f" if row.compared_unit == "waits" or (row.compared_unit == "MB" and row.compared >= 100) else ",.2f"
    target = f"{row.target.bound} {row.target.value:{digits}}" if row.target else ""
    return median, between, f"{row.compared:{digits}} {row.compared_unit}", row.versus, target


def _verdict(row: Row, quick: bool) -> Text:
    if row.met is None or quick:
        return Text("")
    return Text("met", "bold green") if row.met else Text("missed", "bold red")
