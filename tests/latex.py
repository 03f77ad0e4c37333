"""A real LaTeX that compiles tables; without one (Debian: texlive-latex-recommended) its tests are skipped by name."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from headscope.study.results.latex import PACKAGES

ENGINES = ("pdflatex", "lualatex", "xelatex")


def compile_tables(tables: Sequence[str], folder: Path, engine: str = "pdflatex") -> None:
    """Each table on a page of its own, with the packages that it says it needs; the first error fails."""
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed (apt-get install texlive-latex-recommended has pdflatex)")
    preamble = [r"\documentclass{article}", r"\usepackage{booktabs}"]
    assert r"\usepackage{booktabs}" in PACKAGES
    if engine == "pdflatex":
        preamble.append(r"\usepackage[T1]{fontenc}")
        assert preamble[-1] in PACKAGES
    pages = [f"\\typeout{{Table {place}}}\n{table}\n\\clearpage" for place, table in enumerate(tables)]
    source = folder / "tables.tex"
    source.write_text("\n".join([*preamble, r"\begin{document}", *pages, r"\end{document}"]), encoding="utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-draftmode", source.name]
    if engine == "xelatex":
        command[3] = "-no-pdf"
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    told = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, told[told.rfind("\nTable ") :]
    assert told.count("\nTable ") == len(tables)


def tables_of(folder: Path) -> list[str]:
    """The tables that a run has written."""
    return [path.read_text(encoding="utf-8") for path in sorted((folder / "tables").glob("*.tex"))]
