"""`python -m comparisons`: one comparison after another, each in a process of its own; printed, and written to a file."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from benchmarks.catalogue import about
from benchmarks.machine import machine_facts
from benchmarks.memory import in_fresh_process
from benchmarks.report import write
from benchmarks.settings import Settings

from comparisons.catalogue import COMPARISONS
from comparisons.page import page, section


def main(
    only: Annotated[list[str] | None, typer.Option(help="Run this one, keep the other results.")] = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the comparisons and stop.")] = False,
    page_only: Annotated[bool, typer.Option("--page", help="Measure nothing: make the page of the results again.")] = False,
    repeats: Annotated[int, typer.Option(min=1, help="How often each thing is timed.")] = Settings.repeats,
    quick: Annotated[bool, typer.Option("--quick", help="Tiny texts, to see that everything runs.")] = False,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the results go: JSON, and beside it a page.")] = Path(
        "out/comparison.json"
    ),
) -> None:
    """headscope beside other tools on the same models, texts and machine. A tool that is not installed has no line."""
    if list_them:
        for name, run in COMPARISONS.items():
            typer.echo(f"{name:<20}{about(run)}")
        return
    if page_only:
        write(output.with_suffix(".md"), page(json.loads(output.read_text("utf-8"))))
        return
    unknown = [name for name in only or () if name not in COMPARISONS]
    if unknown:
        raise typer.BadParameter(f"there is no comparison {unknown[0]!r}; choose from {', '.join(COMPARISONS)}")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # every model is here
    found: dict[str, Any] = json.loads(output.read_text("utf-8")) if only and output.is_file() else {"results": {}}
    for name in only or COMPARISONS:
        began, load = time.monotonic(), os.getloadavg()[0]
        table = in_fresh_process(COMPARISONS[name], Settings(repeats, quick)).to_json()
        minutes = round((time.monotonic() - began) / 60, 1)
        found["machine"] = {name: value for name, value in machine_facts().items() if name != "load"}
        found["results"][name] = {**table, "load": round(load, 1), "minutes": minutes}
        found["results"] = {name: found["results"][name] for name in COMPARISONS if name in found["results"]}
        typer.echo(section(found["results"][name]))
        write(output, json.dumps(found, indent=2, ensure_ascii=False) + "\n")  # after each: who stops it keeps the others
        write(output.with_suffix(".md"), page(found))
    typer.echo(f"Written to {output} and {output.with_suffix('.md')}")


if __name__ == "__main__":
    typer.run(main)
