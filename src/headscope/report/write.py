"""Writes a report to a file, whole or not at all."""

from __future__ import annotations

from pathlib import Path

from headscope.errors import InputError
from headscope.files import write_text
from headscope.report.page import report_page
from headscope.study.run import UPSTAIRS, Run

NAME = "report.html"


def write_report(
    run: Run | str | Path, other: Run | str | Path | None = None, *, out: str | Path | None = None, title: str = ""
) -> Path:
    """Write the report on a run (and a second one) to `out`, by default RUN/report.html; returns where it is."""
    run = Run.open(run)
    path = Path(out) if out is not None else run.folder / NAME
    if path.suffix not in (".html", ".htm"):
        raise InputError(f"A report is a page, so its file ends in .html: {path} does not.")
    write_text(path, report_page(run, other, title=title))
    return path


UPSTAIRS.report = write_report
