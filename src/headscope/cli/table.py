"""`headscope table RUN NAME` and `headscope compare A B NAME`: the tables of runs."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from headscope.cli import options
from headscope.errors import InputError
from headscope.study import load_run

AsCsv = Annotated[bool, typer.Option("--csv", help="As CSV.")]


def table(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    name: Annotated[str | None, typer.Argument(help="A table; without it, the tables are listed.")] = None,
    as_csv: AsCsv = False,
    as_json: options.AsJson = False,
) -> None:
    """Print a table of a run.

    [bold]Examples[/bold]

      headscope table run

      headscope table run entropy --csv > entropy.csv
    """
    if name is None:
        typer.echo("\n".join(load_run(run).tables))
        return
    _print(load_run(run)[name], as_csv, as_json)


def compare(
    one: Annotated[Path, typer.Argument(help="A run directory.")],
    other: Annotated[Path, typer.Argument(help="Another: of another model, another corpus, or --random-init.")],
    name: Annotated[str, typer.Argument(help="A table that both have.")],
    as_csv: AsCsv = False,
    as_json: options.AsJson = False,
) -> None:
    """Print a table of two runs side by side, and the difference, head by head.

    [bold]Examples[/bold]

      headscope study MODEL wiki.txt -o trained; headscope study MODEL wiki.txt -o untrained --random-init 0

      headscope compare trained untrained entropy
    """
    _print(load_run(one).compare(other, name), as_csv, as_json)


def _print(frame: pd.DataFrame, as_csv: bool, as_json: bool) -> None:
    if as_csv and as_json:
        raise InputError("Choose one of --csv and --json.")
    if as_csv:
        typer.echo(frame.to_csv(index=False), nl=False)
    elif as_json:
        typer.echo(frame.to_json(orient="records"))
    else:
        shown = Table(box=None, header_style="bold")
        for column in frame.columns:
            shown.add_column(str(column), justify="left" if frame[column].dtype == object else "right")
        for row in frame.itertuples(index=False):
            shown.add_row(*[_cell(value) for value in row])
        console = Console()
        console.print(shown, width=max(console.width, 12 * len(frame.columns)) if not console.is_terminal else None)


def _cell(value: object) -> str:
    if value is None or value is pd.NA or value != value:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
