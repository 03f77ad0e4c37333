"""`headscope doctor MODEL`: is this model read correctly?"""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headscope.lens.doctor import Diagnosis, SiteReport, diagnose
from headscope.lens.lens import open as open_lens

_COLOURS = {"ok": "green", "in part": "yellow", "weights only": "yellow", "wrong": "red"}
_MEANING = {
    "ok": "weights and norms are read right at every site.",
    "in part": "what is listed is read right, but not all attention of this model can be read.",
    "weights only": "weights are read right; norms cannot be had everywhere, for the reasons given.",
    "wrong": "this model is NOT read right: do not use its numbers, and please report it.",
}


def doctor(
    model: Annotated[str, typer.Argument(help="A hub id, a folder with a saved model, or a GGUF file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    trust_remote_code: Annotated[bool, typer.Option(help="Run code that comes with the model. Read it first.")] = False,
) -> None:
    """Prove that a model's attention is read right. Exit code 1 if anything is off.

    For every site: the weighted vectors must sum to what the model's own projection returned, rows of
    weights must sum to 1 (less with sinks), and the weights must be the model's own output_attentions.

    [bold]Examples[/bold]

      headscope doctor bert-base-uncased

      headscope doctor ./my-model --json
    """
    with open_lens(model, trust_remote_code=trust_remote_code) as lens:
        diagnosis = diagnose(lens)
    if as_json:
        typer.echo(json.dumps(diagnosis.to_json(), indent=2))
    else:
        _print(diagnosis)
    raise typer.Exit(0 if diagnosis.verdict == "ok" else 1)


def _print(diagnosis: Diagnosis) -> None:
    console = Console()
    table = Table(box=None, header_style="bold", title=f"{diagnosis.architecture}  ({diagnosis.model})", title_justify="left")
    for name in ("site", "heads", "captured by", "W_O"):
        table.add_column(name, overflow="fold")
    for name in ("reconstruction", "row sum", "own weights"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for report in diagnosis.sites:
        table.add_row(*_row(report))
    console.print(table)
    for note in sorted({f"{report.site.module}: {report.note}" for report in diagnosis.sites if report.note}):
        console.print(Text(f"  note  {note}"))
    for reason in diagnosis.skipped:
        console.print(Text(f"  not read  {reason}", style="yellow"))
    verdict = diagnosis.verdict
    console.print(Text.assemble((verdict, f"bold {_COLOURS[verdict]}"), f": {_MEANING[verdict]}"))


def _row(report: SiteReport) -> list[str | Text]:
    site = report.site
    heads = f"{site.heads}" if site.key_value_heads == site.heads else f"{site.heads} ({site.key_value_heads} kv)"
    errors = [report.reconstruction, report.row_sum, report.own_weights]
    verdict = Text(report.verdict, style=_COLOURS[report.verdict])
    return [site.name, heads, site.capture, site.projection or "-", *[_small(error) for error in errors], verdict]


def _small(error: float | None) -> str:
    return "-" if error is None else "0" if error == 0 else f"{error:.0e}"
