"""`headscope report RUN`: one page that shows what every head of a run's model does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from headscope.cli import options
from headscope.remote import as_path


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", parser=as_path, help="A run directory, of a study or of a paper.")],
    other: Annotated[
        Path | None,
        typer.Argument(metavar="OTHER", parser=as_path, help="A second one, to see what differs from head to head."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", parser=as_path, help="The page; RUN/report.html without it.")
    ] = None,
    ablation: Annotated[
        Path | None, typer.Option(help="A run of headscope ablate with the same model: what is lost without each head.")
    ] = None,
    title: Annotated[str, typer.Option(help="What stands at the top; the model's name without it.")] = "",
    as_json: options.AsJson = False,
) -> None:
    """Write one page with what every head does.

    Findings, an atlas of heads with a card each, tables and figures.

    Examples:

      headscope report run -o report.html

      headscope report trained untrained -o difference.html

      headscope report run --ablation ablated -o report.html
    """
    from rich.console import Console

    from headscope.report import write_report

    path = write_report(run, other, out=output, title=title, ablation=ablation)
    size = path.stat().st_size
    if as_json:
        typer.echo(json.dumps({"file": str(path), "bytes": size, "runs": [str(one) for one in (run, other) if one]}))
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"Written: {path} ({size / 1e6:.1f} MB)")
    console.print("Open it in a browser: it needs no network, and can be sent to others as it is.")
