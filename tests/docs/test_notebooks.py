"""The notebooks of examples/ run from their first cell to their last and print no warning; the tour has tests of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import places
from tests.test_tour import code_cells, executed, nbformat, stderr

EXAMPLES = places.ROOT / "examples"
SHOWN = {
    "encoder": ("minilm", ["weight: ", "norm: "]),
    "decoder": ("smollm", ["of the weight goes to the first token"]),
    "translation": ("opus", ["cat - chat", "to </s>"]),
    "without-a-head": ("minilm", ["moves the states by", "restored: True"]),
}


def test_every_notebook_is_tried_and_kept_without_outputs() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.ipynb")} == {*SHOWN, "tour"}
    for name in SHOWN:
        notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
        nbformat.validate(notebook)
        assert all(not cell.outputs and cell.execution_count is None for cell in code_cells(notebook))


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_it_runs(name: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, expected = SHOWN[name]
    folder = request.getfixturevalue(model)
    if model == "opus":
        monkeypatch.setenv("HEADSCOPE_OPUS", str(folder))
    done = executed(nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4), tmp_path)
    printed = "".join(one.text for cell in code_cells(done) for one in cell.outputs if one.get("name") == "stdout")
    assert [one for one in expected if one not in printed] == [], printed
    assert stderr(done) == ""
