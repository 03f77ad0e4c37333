"""`python -m benchmarks`: measure everything in one run, print it and write it to a file."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.catalogue import BENCHMARKS, WHEN_NAMED, about
from benchmarks.machine import machine_facts
from benchmarks.page import page
from benchmarks.report import as_json, console, show, show_summary, write
from benchmarks.rows import Row
from benchmarks.settings import Settings
from headscope.allocation import keep_freed_memory


def main(
    only: Annotated[list[str] | None, typer.Option(help="Run this one; may be given more than once.")] = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the benchmarks and stop.")] = False,
    repeats: Annotated[int, typer.Option(min=1, help="How often each thing is timed.")] = Settings.repeats,
    quick: Annotated[bool, typer.Option("--quick", help="Tiny shapes, to see that everything runs.")] = False,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the results go: JSON, and beside it a page.")] = Path(
        "out/bench.json"
    ),
) -> None:
    """Speed and memory as ratios, with the targets beside them. Nothing here fails on a slow machine."""
    all_of_them = BENCHMARKS | WHEN_NAMED
    if list_them:
        for name, run in all_of_them.items():
            typer.echo(f"{name:<20}{about(run)}")
        return
    unknown = [name for name in only or () if name not in all_of_them]
    if unknown:
        raise typer.BadParameter(f"there is no benchmark {unknown[0]!r}; choose from {', '.join(all_of_them)}")
    settings = Settings(repeats, quick)
    keep_freed_memory()  # as the command does: for whatever is compared, ours and the plain model
    out, machine, took = console(), machine_facts(), dict[str, float]()
    out.print(", ".join(f"{name} {value}" for name, value in machine.items()) + "\n")
    results: dict[str, list[Row]] = {}
    for name in only or BENCHMARKS:
        began = time.monotonic()
        results[name] = all_of_them[name](settings)
        took[name] = time.monotonic() - began
        show(out, name, about(all_of_them[name]), results[name], quick)
        found = as_json(machine, asdict(settings), took, results)
        write(output, json.dumps(found, indent=2) + "\n")  # after each: who stops it keeps what was measured
        write(output.with_suffix(".md"), page(found))
    show_summary(out, results, quick)
    out.print(f"Written to {output} and {output.with_suffix('.md')}")


if __name__ == "__main__":
    typer.run(main)
