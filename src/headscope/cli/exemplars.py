"""`headscope exemplars RUN HEAD`: the texts that excite a head most, out of a run of vig2019."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from headscope.errors import InputError
from headscope.study import load_run

NAME = "vig2019_exemplars"


def exemplars(
    run: Annotated[Path, typer.Argument(help="A run directory of `headscope paper vig2019`.")],
    head: Annotated[
        str | None, typer.Argument(help="A head, as layer.head; without it, the best text of every head.")
    ] = None,
    table: Annotated[str, typer.Option(help="Which of the run's tables of exemplars.")] = NAME,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, one object a row.")] = False,
) -> None:
    """Print the texts that excite a head most: attending token bold, attended one italic and underlined.

    [bold]Examples[/bold]

      headscope exemplars run 10.10

      headscope exemplars run --json > exemplars.json
    """
    opened = load_run(run)
    if table not in opened:
        raise InputError(f"{run} has no exemplars: make them with headscope paper vig2019.")
    found = opened[table]
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
        console.print(line.append_text(_styled(row["text"])) if console.is_terminal else line.plain + row["text"])


def _styled(marked: str) -> Text:
    """**bold** and *italic* as a terminal shows them."""
    styled = Text()
    for place, part in enumerate(marked.split("**")):
        if place % 2:
            styled.append(part, style="bold")
            continue
        for inner, piece in enumerate(part.split("*")):
            styled.append(piece, style="italic underline" if inner % 2 else "")
    return styled
