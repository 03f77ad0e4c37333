"""`headscope view`: what it writes, what it says, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import headscope
from headscope.cli.main import app
from headscope.errors import InputError
from headscope.views.from_reading import check_length
from tests.papers.samples import save_tiny
from tests.views import decoding
from tests.views.print.test_drawing import texts

TEXT = "the cat sat on the mat"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("model"))


def view(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["view", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_page_and_its_figures(model: Path, tmp_path: Path) -> None:
    said = view(model, TEXT, "-o", tmp_path / "view.html", "--svg", "--pdf", "--png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["view.html", "view.pdf", "view.png", "view.svg"]
    assert "needs no network" in said
    assert "the" in (tmp_path / "view.svg").read_text()


def test_the_page_has_the_models_numbers(model: Path, tmp_path: Path) -> None:
    said = json.loads(view(model, TEXT, "-o", tmp_path / "x.html", "--exact", "--json", "--view", "neuron"))
    assert said["view"] == "neuron"
    assert said["files"] == {str(tmp_path / "x.html"): (tmp_path / "x.html").stat().st_size}
    description, chunks = decoding.parts((tmp_path / "x.html").read_text())
    with headscope.open(model) as lens:
        reading = lens.read(TEXT)
    for name in ("weight", "norm", "joint_norm", "effective"):
        shown = np.stack([decoding.scores(one, chunks, name) for one in description["attentions"]])
        np.testing.assert_allclose(shown, reading.scores(name).numpy(), rtol=1e-4, atol=1e-6)
    assert all(one["neurons"] is not None for one in description["attentions"])


def test_choices_are_what_the_page_opens_with(model: Path, tmp_path: Path) -> None:
    options = [
        "--layer",
        "1",
        "--heads",
        "1,0",
        "--measure",
        "norm",
        "--level",
        "word",
        "--without-sinks",
        "--top",
        "3",
        "--least",
        "0.1",
        "--keep",
        "q1,k2",
    ]
    view(model, TEXT, "-o", tmp_path / "x.html", *options)
    state = decoding.parts((tmp_path / "x.html").read_text())[0]["state"]
    assert state == "layer=1&heads=1,0&measure=norm&level=word&least=0.1&top=3&sinks=hidden&keep=q1,k2"


def test_a_text_from_a_file_and_some_heads_only(model: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(f"{TEXT}\n")
    view(model, "--file", tmp_path / "text.txt", "--view", "matrix", "--only", "1.1", "-o", tmp_path / "x.html")
    description, _ = decoding.parts((tmp_path / "x.html").read_text())
    assert [(one["layer"], one["heads"]) for one in description["attentions"]] == [(1, [1])]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "a text in quotes, or a file"),
        (["x", "--file", "y.txt"], "one of the two"),
        (["--file", "missing.txt"], r"missing\.txt cannot be read"),
        (["x", "-o", "x.doc"], "saved as one of"),
        (["x", "--view", "heads"], "no view 'heads'"),
        (["x", "--heads", "a"], "--heads takes numbers"),
        (["x", "--only", "7.1"], "no layer 7"),
        (["x", "--only", "a.b"], "write layer.head"),
        (["x", "--measure", "entropy"], "no measure 'entropy'"),
        (["x", "--layer", "99"], "no layer 99"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_written(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=words):
        view(model, *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_text_too_long_for_a_page_is_refused_before_it_is_read(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(check_length.__globals__, "LARGEST", 100)  # the very function that the command has
    with pytest.raises(InputError, match="choose fewer heads"):
        view(model, TEXT, "-o", tmp_path / "x.html")


def test_two_texts(model: Path, tmp_path: Path) -> None:
    said = json.loads(
        view(model, TEXT, "--against", "the old cat sat on a mat", "-o", tmp_path / "x.html", "--exact", "--json")
    )
    assert (said["view"], said["title"]) == ("model", "the {+ old} cat sat on {the → a} mat")
    description, chunks = decoding.parts((tmp_path / "x.html").read_text())
    with headscope.open(model) as lens:
        readings = [lens.read(TEXT), lens.read("the old cat sat on a mat")]
    for attention in description["attentions"]:
        for part, reading in zip(attention["parts"], readings, strict=True):
            right = reading.scores("norm", layer=attention["layer"]).numpy()
            np.testing.assert_allclose(decoding.scores(part, chunks, "norm"), right, rtol=1e-4, atol=1e-6)
    (change,) = description["statistics"]
    most = max(change["values"], key=change["values"].get).split()[-1].split(".")
    assert description["state"] == f"view=model&layer={most[0]}&heads={most[1]}&sort=change"


def test_two_models_on_one_text(model: Path, tmp_path: Path) -> None:
    other = save_tiny(tmp_path / "other")
    pages = ["-o", tmp_path / "x.html", "-o", tmp_path / "x.svg", "--view", "matrix"]
    view(model, TEXT, "--against-model", other, *pages)
    description, _ = decoding.parts((tmp_path / "x.html").read_text())
    assert description["title"] == TEXT
    assert [description["compared"][end]["model"] for end in "ab"] == [model.name, "other"]
    assert f"A is read by {model.name}, B by other." in " ".join(texts((tmp_path / "x.svg").read_bytes()))


def test_two_models_of_one_name_are_told_apart(model: Path, tmp_path: Path) -> None:
    other = save_tiny(tmp_path / model.name)
    view(model, TEXT, "--against-model", other, "-o", tmp_path / "x.html")
    description, _ = decoding.parts((tmp_path / "x.html").read_text())
    assert [description["compared"][end]["model"] for end in "ab"] == [model.name, str(other)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--view", "neuron"], "A difference has no neuron view"),
        (["--compare", "norm"], "leave compare out"),
        (["--sort", "entropy"], "there are change"),
    ],
)
def test_what_a_difference_has_not(model: Path, options: list[str], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        view(model, TEXT, "--against", "a mat", *options, "-o", tmp_path / "x.html")
