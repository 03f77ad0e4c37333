"""A run as notebooks show it: what was run, its tables, and a picture that comes from above."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.html_table import html_table

if TYPE_CHECKING:
    from headscope.study.run import Run

SHOWN = 12  # tables by name
_FACTS = ("Model", "Architecture", "Paper", "Corpus", "Counted")


def run_html(run: Run, picture: str) -> str:
    """Tables are named, not loaded: a run may have many, and some are large."""
    facts = run.facts if run.manifest else {}
    names = ", ".join(run.tables[:SHOWN]) + (f" and {len(run.tables) - SHOWN} more" if len(run.tables) > SHOWN else "")
    folder = [("Folder", run.folder)] if run.manifest else []
    rows = [*((name, facts[name]) for name in _FACTS if name in facts), *folder, ("Tables", names or "none: not finished")]
    below = (
        f"run[“{run.tables[0]}”] is a table, run.roles says what heads do, run.report() writes a page." if run.tables else ""
    )
    return html_table(rows, title=run.title if run.manifest else "Run", below=below) + picture
