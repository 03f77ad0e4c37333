"""`headscope table RUN NAME` and `headscope compare A B NAME`: the tables of runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headscope.cli import options
from headscope.errors import InputError
from headscope.later import pd
from headscope.remote import as_path
from headscope.study import Run, load_run
from headscope.study.groups import explain
from headscope.study.results.printing import cell, latex, markdown
from headscope.study.results.selection import BETWEEN, blocks, select

AsCsv = Annotated[bool, typer.Option("--csv", help="As CSV.")]
AsLatex = Annotated[bool, typer.Option("--latex", help="As a LaTeX tabular with the rules of booktabs.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="As a Markdown table.")]
Chosen = Annotated[str | None, typer.Option("--columns", metavar="A,B", help="These columns alone, in this order.")]
Sort = Annotated[
    str | None,
    typer.Option("--sort", metavar="COLUMN", help="By a column: numbers from the largest on, texts and heads in order."),
]
Ascending = Annotated[bool, typer.Option("--ascending", help="With --sort: from the smallest on.")]
Top = Annotated[int | None, typer.Option(min=1, metavar="N", help="The first rows alone.")]


def table(
    run: Annotated[Path, typer.Argument(metavar="RUN", parser=as_path, help="A run directory.")],
    name: Annotated[str | None, typer.Argument(metavar="TABLE", help="A table; without it, the tables are listed.")] = None,
    columns: Chosen = None,
    sort: Sort = None,
    ascending: Ascending = False,
    top: Top = None,
    as_markdown: AsMarkdown = False,
    as_latex: AsLatex = False,
    as_csv: AsCsv = False,
    as_json: options.AsJson = False,
) -> None:
    """Print a table of a run.

    Examples:

      headscope table run

      headscope table run entropy --sort entropy --top 10

      headscope table run entropy --columns layer,head,entropy --latex > entropy.tex

      headscope table run entropy --csv > entropy.csv
    """
    opened, form = load_run(run), _form(as_markdown, as_latex, as_csv, as_json)
    if name is None:
        if form not in (None, "--json") or columns is not None or sort is not None or top is not None:
            raise InputError(f"Say which table, after {run}: it has {', '.join(opened.tables)}.")
        typer.echo(json.dumps(opened.tables) if form else "\n".join(opened.tables))
        return
    whole = opened[name]
    shown = _selected(whole, columns, sort, ascending, top)
    _print(shown, form, [*_left_out(whole, shown), *_intervals(opened, name, shown)])


def compare(
    one: Annotated[Path, typer.Argument(metavar="RUN", parser=as_path, help="A run directory.")],
    other: Annotated[
        Path,
        typer.Argument(metavar="OTHER", parser=as_path, help="Another: of another model, another corpus, or --random-init."),
    ],
    name: Annotated[str, typer.Argument(metavar="TABLE", help="A table that both have.")],
    columns: Chosen = None,
    sort: Sort = None,
    ascending: Ascending = False,
    top: Top = None,
    as_markdown: AsMarkdown = False,
    as_latex: AsLatex = False,
    as_csv: AsCsv = False,
    as_json: options.AsJson = False,
) -> None:
    """Print a table of two runs side by side, with differences.

    Examples:

      headscope study MODEL wiki.txt -o trained; headscope study MODEL wiki.txt -o untrained --random-init 0

      headscope compare trained untrained entropy --sort entropy_difference --top 10
    """
    form = _form(as_markdown, as_latex, as_csv, as_json)
    whole = load_run(one).compare(other, name)
    shown = _selected(whole, columns, sort, ascending, top)
    _print(shown, form, _left_out(whole, shown))


def _selected(whole: pd.DataFrame, columns: str | None, sort: str | None, ascending: bool, top: int | None) -> pd.DataFrame:
    if ascending and sort is None:
        raise InputError("--ascending says how --sort goes: give --sort COLUMN too.")
    names = None if columns is None else [name.strip() for name in columns.split(",")]
    return select(whole, names, sort=sort, ascending=ascending, top=top)


def _form(as_markdown: bool, as_latex: bool, as_csv: bool, as_json: bool) -> str | None:
    given = {"--markdown": as_markdown, "--latex": as_latex, "--csv": as_csv, "--json": as_json}
    chosen = [flag for flag, is_given in given.items() if is_given]
    if len(chosen) > 1:
        raise InputError(f"Choose one of {' and '.join(chosen)}.")
    return chosen[0] if chosen else None


def _left_out(whole: pd.DataFrame, shown: pd.DataFrame) -> list[str]:
    return [f"The first {len(shown)} of {len(whole)} rows."] if len(shown) < len(whole) else []


def _intervals(run: Run, name: str, shown: pd.DataFrame) -> list[str]:
    """What intervals are, where some are shown: as the study says that has counted the table."""
    if not any(str(column).endswith(("_low", "_high")) for column in shown):
        return []
    counted = next((study.manifest for study in run.studies if name in study), {})
    return [explain(counted["intervals"])] if "intervals" in counted else []


def _print(frame: pd.DataFrame, form: str | None, notes: list[str]) -> None:
    """For machines and papers the table alone, for people with notes below it."""
    if form == "--csv":
        typer.echo(frame.to_csv(index=False), nl=False)
    elif form == "--json":
        typer.echo(frame.to_json(orient="records"))
    elif form is not None:
        typer.echo((markdown if form == "--markdown" else latex)(frame, digits=4))
    else:
        _print_blocks(frame, notes)


def _print_blocks(frame: pd.DataFrame, notes: list[str]) -> None:
    """As many columns side by side as the terminal is wide for, the others below; all in one where it is no terminal."""
    cells = {str(name): [cell(value, 4) or "-" for value in frame[name]] for name in frame}
    widths = {name: max(map(len, (name, *below))) for name, below in cells.items()}
    console = Console()
    whole = sum(width + BETWEEN for width in widths.values())
    if not console.is_terminal:
        console = Console(width=max(console.width, whole))
    for place, names in enumerate(blocks(widths, console.width)):
        if place:
            console.print()
        shown = Table(box=None, header_style="bold", padding=(0, BETWEEN, 0, 0))
        for name in names:
            left = not pd.api.types.is_numeric_dtype(frame[name])
            # Only a text may be folded: a header and a number stay whole.
            shown.add_column(
                name, justify="left" if left else "right", no_wrap=not left, min_width=len(name), overflow="fold"
            )
        for row in zip(*(cells[name] for name in names), strict=True):
            shown.add_row(*map(Text, row))
        console.print(shown)
    for note in notes:
        console.print(Text(note, style="dim"))
