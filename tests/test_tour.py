"""The tour notebook runs from its first cell to its last, prints no warning, and shows what it speaks of."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from tests import places

nbformat = pytest.importorskip("nbformat", reason="jupyterlab is not installed: make test installs it")
nbclient = pytest.importorskip("nbclient", reason="jupyterlab is not installed: make test installs it")

TOUR = places.ROOT / "examples" / "tour.ipynb"


def executed(sources: Any, folder: Path) -> Any:
    """A notebook after its cells have run in a kernel of their own; an error in a cell is raised here."""
    notebook = (
        sources
        if hasattr(sources, "cells")
        else nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    )
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    return notebook


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def stderr(notebook: Any) -> str:
    return "".join(one.text for cell in code_cells(notebook) for one in cell.outputs if one.get("name") == "stderr")


@pytest.fixture(scope="module")
def tour(minilm: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    folder = tmp_path_factory.mktemp("tour")
    return executed(nbformat.read(TOUR, as_version=4), folder), folder


def test_the_tour_is_kept_without_outputs() -> None:
    notebook = nbformat.read(TOUR, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs and cell.execution_count is None for cell in code_cells(notebook))
    assert TOUR.stat().st_size < 20_000


def test_links_of_the_tour_lead_somewhere() -> None:
    said = " ".join(cell.source for cell in nbformat.read(TOUR, as_version=4).cells if cell.cell_type == "markdown")
    targets = re.findall(r"\]\(([^)#:]+)\)", said)
    assert targets
    assert all((TOUR.parent / target).exists() for target in targets)


@pytest.mark.real
@pytest.mark.slow
def test_every_cell_that_ends_in_a_value_shows_it(tour: tuple[Any, Path]) -> None:
    notebook, _ = tour
    for cell in code_cells(notebook):
        last = ast.parse(cell.source).body[-1]
        is_value = isinstance(last, ast.Expr) and "close()" not in cell.source
        shown = [one for one in cell.outputs if one.output_type == "execute_result"]
        assert len(shown) == is_value, cell.source
    assert stderr(notebook) == ""


@pytest.mark.real
@pytest.mark.slow
def test_what_the_tour_says_is_what_it_shows(tour: tuple[Any, Path]) -> None:
    notebook, folder = tour
    pages = [
        one.data["text/html"] for cell in code_cells(notebook) for one in cell.outputs if "text/html" in one.get("data", {})
    ]
    assert sum("<iframe" in page for page in pages) == 2
    assert sum('<img src="data:image/svg+xml' in page for page in pages) == 2  # the reading and the run
    printed = [one.text for cell in code_cells(notebook) for one in cell.outputs if one.get("name") == "stdout"]
    assert "[CLS]" in printed[0]
    report = (folder / "tour-report.html").read_text("utf-8")
    assert "all-MiniLM-L6-v2" in report
    assert (folder / "tour-run" / "manifest.json").is_file()


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("model", ["minilm", "smollm", "opus"])
def test_the_first_cell_prints_nothing(model: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """No warning of missing widgets, no bars, no advice of a tokenizer's; as a first cell is written, in one piece."""
    folder = request.getfixturevalue(model)
    done = executed(
        [f"import headscope\nlens = headscope.open({str(folder)!r})\nreading = lens.read('The cat sat.')"], tmp_path
    )
    assert code_cells(done)[0].outputs == []
