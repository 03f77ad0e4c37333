"""A model's recipe: plain data that says what it is, opens the same model again, and refuses what cannot be."""

from __future__ import annotations

import json
import pickle
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

import headscope
from headscope.errors import ModelError
from headscope.lens import ModelSource
from tests.tiny import tiny
from tests.tiny_tokenizers import save_tiny, tiny_tokenizer

TEXT = "the cat sat"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny("bert", "wordpiece", tmp_path_factory.mktemp("models") / "small")


@pytest.mark.parametrize("twin", [{}, {"random_init": 3}, {"random_init": 3, "keep_embeddings": True}])
def test_what_was_opened_is_opened_again_from_its_recipe(folder: Path, twin: dict[str, int]) -> None:
    with headscope.open(folder, **twin) as lens:
        expected = lens.read(TEXT).scores("norm")
        sent = pickle.loads(pickle.dumps(lens.source))
    written = ModelSource(**json.loads(json.dumps(asdict(sent))))
    assert sent == written == ModelSource.described_as(sent.describe())
    with written.open() as again:
        assert torch.equal(again.read(TEXT).scores("norm"), expected)
        assert again.source == sent


def test_a_lens_makes_the_twin_that_its_recipe_would(folder: Path) -> None:
    with headscope.open(folder) as lens, lens.twin(5) as twin, twin.source.open() as again:
        assert twin.source.random_init == 5
        assert torch.equal(twin.read(TEXT).scores(), again.read(TEXT).scores())
        assert not torch.equal(twin.read(TEXT).scores(), lens.read(TEXT).scores())


def test_precision_and_device_are_words_or_torchs_own(folder: Path) -> None:
    for dtype in ("bfloat16", torch.bfloat16):
        with headscope.open(folder, dtype=dtype, device=torch.device("cpu")) as lens:
            assert lens.model.dtype == torch.bfloat16
            assert (lens.source.dtype, lens.source.device) == ("bfloat16", "cpu")
    for options, sentence in (
        ({"dtype": "float99"}, "'float99' is no precision"),
        ({"dtype": "int8"}, "'int8' is no precision"),
        ({"device": "gpu"}, "'gpu' is no device: write cpu, cuda"),
        ({"device": "cuda:99"}, "no device cuda:99"),
    ):
        with pytest.raises(ModelError, match=sentence) as raised:
            headscope.open(folder, **options)
        assert str(raised.value).count("\n") == 0


def test_a_model_in_hand_says_that_it_cannot_be_opened_elsewhere(folder: Path) -> None:
    with (
        headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"), name="ours") as lens,
        headscope.open(folder, tiny_tokenizer("wordpiece")) as half,
    ):
        assert (lens.name, lens.source.describe()["dtype"]) == ("ours", "float32")
        for source in (lens.source, half.source):
            with pytest.raises(ModelError, match=f"{source.name} was given as an object.*save_pretrained"):
                source.open()


def test_names(folder: Path) -> None:
    assert ModelSource(str(folder)).name == "small"
    assert ModelSource("org/bert").name == "org/bert"
    assert ModelSource("org/bert", name="ours").name == "ours"


def test_the_folder_where_one_stands(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with headscope.open(".") as lens:
        assert lens.name == "small"
        assert lens.read(TEXT).tokens


@pytest.mark.parametrize("nothing", ["", " "])
def test_a_model_without_a_name_is_refused(nothing: str) -> None:
    with pytest.raises(ModelError, match="The model has no name: give a hub id, a folder"):
        headscope.open(nothing)
