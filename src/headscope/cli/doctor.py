"""`headscope doctor MODEL`: is this model read correctly?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headscope.cli import options
from headscope.lens import ModelSource

if TYPE_CHECKING:
    from headscope.lens.doctor import Diagnosis, SiteReport

_COLOURS = {"ok": "green", "in part": "yellow", "weights only": "yellow", "not finite": "red", "wrong": "red"}
_MEANING = {
    "ok": "weights and norms are read right at every site.",
    "in part": "what is listed is read right, but not all attention of this model can be read.",
    "weights only": "weights are read right; norms cannot be had everywhere, for the reasons given.",
    "not finite": "the model itself computes numbers that are none; the notes say what to do (--dtype).",
    "wrong": "this model is NOT read right: do not use its numbers, and please report it.",
}
_LEGEND = (
    "rebuilt: relative error of sum(weight * f(x)) + bias against what W_O returned\n"
    "row sum: largest distance from 1; own: from the model's own output_attentions\n"
    "without: of what remains when all heads are taken away (the bias), and of known vectors in their place"
)


def doctor(
    model: options.Model,
    as_json: options.AsJson = False,
    device: options.Device = None,
    dtype: options.Dtype = "float32",
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
    device_map: options.DeviceMap = None,
    quantize: options.Quantize = None,
) -> None:
    """Prove that a model's attention is read right. Exit code 1 if anything is off.

    For every site: the weighted vectors must sum to what the model's own projection returned, rows of
    weights must sum to 1 (less with sinks), and the weights must be the model's own output_attentions. Heads
    that are taken away must leave the bias, and the model as it was once they are back.

    Examples:

      headscope doctor bert-base-uncased

      headscope doctor ./my-model --json
    """
    from headscope.lens.doctor import diagnose  # it is made of what watches a model, and that of torch

    with ModelSource(
        model, device, dtype, revision, trust_remote_code, device_map=device_map, quantization=quantize
    ).open() as lens:
        diagnosis = diagnose(lens)
    if as_json:
        typer.echo(json.dumps(diagnosis.to_json(), indent=2))
    else:
        _print(diagnosis)
    raise typer.Exit(0 if diagnosis.verdict == "ok" else 1)


def _print(diagnosis: Diagnosis) -> None:
    console = Console()
    console.print(Text.assemble((diagnosis.architecture, "bold"), f"  {diagnosis.model}"))
    table = Table(box=None, header_style="bold")
    for name in ("site", "heads", "read by", "W_O", "rebuilt", "row sum", "own", "without", "verdict"):
        table.add_column(name, justify="right" if name in ("rebuilt", "row sum", "own", "without") else "left", no_wrap=True)
    for report in diagnosis.sites:
        table.add_row(*_row(report))
    console.print(table)
    console.print(Text(_LEGEND, style="dim"))
    console.print(Text(_residual(diagnosis), style="dim"))
    for note in sorted({f"{report.site.module}: {report.note}" for report in diagnosis.sites if report.note}):
        console.print(Text(f"note: {note}"))
    for reason in diagnosis.skipped:
        console.print(Text(f"not read: {reason}", style="yellow"))
    if diagnosis.skipped:
        console.print(
            Text("For these, ask the model itself (output_attentions); the sites above can be studied.", style="dim")
        )
    verdict = diagnosis.verdict
    console.print(Text.assemble((verdict, f"bold {_COLOURS[verdict]}"), f": {_MEANING[verdict]}"))


def _residual(diagnosis: Diagnosis) -> str:
    """Where block_norm and mixing can be measured."""
    forms = [report.residual for report in diagnosis.sites if report.residual is not None]
    how = f": {', '.join(sorted(set(forms)))}" if forms else ""
    return f"residual connection: found at {len(forms)} of {len(diagnosis.sites)} sites{how}"


def _row(report: SiteReport) -> list[str | Text]:
    site = report.site
    heads = f"{site.heads}" if site.key_value_heads == site.heads else f"{site.heads} ({site.key_value_heads} kv)"
    projection = site.projection.rpartition(".")[2] if site.projection else "-"
    found = report.reconstruction_error, report.row_sum_error, report.own_weights_difference, report.without_error
    errors = [_small(error) for error in found]
    verdict = Text(report.verdict, style=_COLOURS[report.verdict])
    return [f"{site.stack} {site.kind} {site.layer}", heads, site.capture, projection, *errors, verdict]


def _small(error: float | None) -> str:
    return "-" if error is None else "0" if error == 0 else f"{error:.0e}"
