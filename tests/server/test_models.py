"""Which models a server opens: those named, the run's own, or the demo's."""

from __future__ import annotations

from pathlib import Path

import pytest

import headscope
from headscope.errors import InputError, ModelError
from headscope.server.models import close_models, measures_of, named, open_models
from headscope.server.served_run import ServedRun
from headscope.server.settings import Settings
from headscope.study.study import study
from tests.architectures.tiny_models import build
from tests.papers.samples import save_tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "a=b"
    save_tiny(path, "bert")
    return path


def test_names(folder: Path) -> None:
    assert named(["gpt2", "x=y/z", "x2=a=b"]) == {"gpt2": "gpt2", "x": "y/z", "x2": "a=b"}
    assert named([str(folder)]) == {"a=b": str(folder)}  # a path that is there may have an =, and nobody learns where it is
    for wrong in (["a", "a"], ["x="], ["=x"]):
        with pytest.raises(InputError):
            named(wrong)


def test_the_models_that_are_named(folder: Path) -> None:
    lenses = open_models([f"one={folder}", f"other={folder}"])
    assert list(lenses) == ["one", "other"]
    close_models(lenses)
    assert all(lens.closed for lens in lenses.values())


def test_the_others_are_closed_where_one_cannot_be_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    closing = headscope.Lens.close
    monkeypatch.setattr(headscope.Lens, "close", lambda lens: (opened.append(lens), closing(lens))[1])
    with pytest.raises(ModelError):
        open_models([f"one={folder}", "other=./nowhere"])
    assert [lens.closed for lens in opened] == [True]


@pytest.mark.parametrize("seed", [None, 3])
def test_the_runs_own_model(folder: Path, tmp_path: Path, seed: int | None) -> None:
    """Its randomly initialised twin too, and it is known to be the same by its hashes, wherever it lies."""
    with headscope.open(folder, random_init=seed) as lens:
        study(lens, ["the cat sat"], ["entropy"], out=tmp_path / "run")
    lenses = open_models([], tmp_path / "run")
    assert lenses["a=b"].source.random_init == seed
    assert ServedRun(tmp_path / "run", lenses, Settings()).served == "a=b"
    close_models(lenses)
    moved = folder.with_name("moved")
    if not moved.exists():
        save_tiny(moved, "bert")
    with headscope.open(moved) as elsewhere:
        assert ServedRun(tmp_path / "run", {"m": elsewhere}, Settings()).served == ("m" if seed is None else None)


@pytest.mark.real
def test_the_demos_model(minilm: Path) -> None:
    lenses = open_models([])
    assert list(lenses) == ["all-MiniLM-L6-v2"]
    close_models(lenses)


def test_measures_that_a_model_cannot_have() -> None:
    with headscope.open(build("jetmoe").model) as lens:
        assert measures_of(lens) == ["weight", "joint_weight"]
