"""The report as one HTML file: the description in the page, its tables and figures as compressed chunks of their own."""

import base64
import json
import zlib
from pathlib import Path
from typing import Any

from headscope.errors import InputError
from headscope.files import write_text
from headscope.remote import as_path
from headscope.report import schema
from headscope.report.heads.effects import with_ablation
from headscope.report.report_json import checked, description
from headscope.study.run import Run
from headscope.views.page import page

NAME = "report.html"  # beside the run, if nothing else is said


def write_report(
    run: Run | str | Path,
    other: Run | str | Path | None = None,
    *,
    out: str | Path | None = None,
    title: str = "",
    ablation: Run | str | Path | None = None,
) -> Path:
    """Write the report on a run (and a second one) to `out`, by default RUN/report.html; returns where it is.

    `ablation` is a run of `headscope ablate` with the same model: what becomes of it without each head.
    """
    run = Run.open(run)
    if ablation is not None:
        run = with_ablation(checked(run), checked(Run.open(ablation)))
    path = as_path(out) if out is not None else run.folder / NAME
    if path.suffix not in (".html", ".htm"):
        raise InputError(f"A report is a page, so its file ends in .html: {path} does not.")
    write_text(path, report_page(run, other, title=title))
    return path


def report_page(run: Run | str | Path, other: Run | str | Path | None = None, *, title: str = "") -> str:
    """A page that shows a run, or two side by side, and needs nothing else.

    A table's rows, a figure and a card's pictures are unpacked when they are first looked at.
    """
    described = description(run, other, title=title)
    chunks: list[str] = []

    def packed(value: Any) -> int:
        written = json.dumps(value, separators=(",", ":"), allow_nan=False)
        chunks.append(base64.b64encode(zlib.compress(written.encode(), 9)).decode("ascii"))
        return len(chunks) - 1

    tables = [{**table, "rows": None, "chunk": packed(table["rows"])} for table in described["tables"]]
    figures = [{**figure, "svg": None, "chunk": packed(figure["svg"])} for figure in described["figures"]]
    layers: dict[tuple[str, int], dict[str, schema.Picture]] = {}
    for head in described["heads"]:
        if head["picture"]:
            layers.setdefault(_layer(head), {})[head["name"]] = head["picture"]
    drawn = {layer: packed(pictures) for layer, pictures in layers.items()}  # together they are half as large
    heads = [
        {**head, "picture": None, "picture_chunk": drawn[_layer(head)]} if head["picture"] else head
        for head in described["heads"]
    ]
    carried = {**described, "tables": tables, "figures": figures, "heads": heads}
    return page("report", f"{described['title']} · headscope", carried, chunks)


def _layer(head: schema.Head) -> tuple[str, int]:
    return head["group"], head["layer"]
