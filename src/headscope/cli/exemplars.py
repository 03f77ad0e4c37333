"""`headscope exemplars RUN HEAD`: the texts that excite a head most, out of any run that has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from headscope.cli import options
from headscope.errors import InputError
from headscope.heads.exemplars import LOOKS_AT, in_markdown, readable_tables
from headscope.remote import as_path
from headscope.report.heads.exemplars import exemplar
from headscope.report.schema import Marked
from headscope.study import load_run

STYLES = {"attending": "bold", "attended": "italic underline", "both": "bold italic underline"}


def exemplars(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", parser=as_path, help="A run directory of `study --report` or `paper vig2019`.")
    ],
    head: Annotated[
        str | None, typer.Argument(metavar="HEAD", help="A head, as layer.head; without it, the best text of every head.")
    ] = None,
    table: Annotated[str | None, typer.Option(help="Which of the run's tables of exemplars; the first without it.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Print the texts that excite a head most.

    The attending token is bold, the attended one italic and underlined.

    Examples:

      headscope exemplars run 10.10

      headscope exemplars run --json > exemplars.json
    """
    opened = load_run(run)
    names = readable_tables(opened)
    if not names or table not in (None, *names):
        has = f"no exemplars in {table}: they are in {', '.join(names)}" if names else "no exemplars"
        raise InputError(f"{run} has {has}: make them with headscope study --report, or headscope paper vig2019.")
    found = opened[table or names[0]]
    labels = found["layer"].astype(str) + "." + found["head"].astype(str)
    chosen = found[found["rank"] == 1] if head is None else found[labels == head]
    if chosen.empty:
        raise InputError(f"{run} has no head {head}: heads are layer.head from 0, for example {labels.iloc[0]}.")
    if as_json:
        typer.echo(chosen.to_json(orient="records"))
        return
    console = Console(soft_wrap=True)
    for row in chosen.to_dict("records"):
        line = Text(f"{row['layer']}.{row['head']}  {row['score']:.3f}  ", style="dim")
        console.print(line.append_text(_styled(row)) if console.is_terminal else line.plain + in_markdown(row))


def _styled(row: Mapping[str, Any]) -> Text:
    """As a terminal shows it; of cross attention the target first."""
    shown = exemplar(row)
    between: list[Marked] = [{"text": LOOKS_AT, "mark": None}] if shown["attended_runs"] else []
    runs = [*shown["runs"], *between, *shown["attended_runs"]]
    return Text.assemble(*((run["text"], STYLES.get(run["mark"] or "", "")) for run in runs))
