"""Folders: weights in a pickle come in through torch's restricted unpickler, code never does; a tokenizer must be there."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
import torch

import headscope
from headscope.cli import main
from headscope.errors import ModelError
from headscope.study.manifest import describe_model
from tests.tiny import tiny
from tests.tiny_tokenizers import save_tiny, tiny_tokenizer


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As a translation model was saved in 2020."""
    return save_tiny("marian", "bpe", tmp_path_factory.mktemp("models") / "safe")


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """Everything but weights."""
    return Path(shutil.copytree(saved, tmp_path / "pickled", ignore=shutil.ignore_patterns("*.safetensors")))


def whole(folder: Path, *, zipped: bool = True) -> None:
    torch.save(tiny("marian").state_dict(), folder / "pytorch_model.bin", _use_new_zipfile_serialization=zipped)


def in_shards(folder: Path) -> None:
    weights = tiny("marian").state_dict()
    places = {name: f"pytorch_model-0000{1 + index % 2}-of-00002.bin" for index, name in enumerate(weights)}
    for shard in set(places.values()):
        torch.save({name: weights[name] for name in weights if places[name] == shard}, folder / shard)
    index = {"metadata": {"total_size": 1}, "weight_map": places}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))


@pytest.mark.parametrize("write", [whole, lambda folder: whole(folder, zipped=False), in_shards])
def test_arrays_in_a_pickle_are_read_as_those_in_safetensors(write, folder: Path, saved: Path) -> None:
    write(folder)
    with headscope.open(folder) as lens, headscope.open(saved) as expected:
        ours, theirs = (one.read("the cat sat", target="a dog").scores("norm") for one in (lens, expected))
        assert torch.equal(ours, theirs)
        described = describe_model(lens)["hashes"]
        assert sorted(file.name for file in folder.glob("*.bin")) == [name for name in described if name.endswith(".bin")]
        assert not any(name.endswith(".bin") for name in describe_model(expected)["hashes"])


class Evil:
    """What a pickle may hold: a call, made when it is loaded."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.mark}",)


def evil_zip(weights: dict[str, object], file: Path) -> None:
    torch.save(weights, file)


def evil_legacy(weights: dict[str, object], file: Path) -> None:
    torch.save(weights, file, _use_new_zipfile_serialization=False)


def evil_plain(weights: dict[str, object], file: Path) -> None:
    file.write_bytes(pickle.dumps(weights["more"], protocol=2))


@pytest.mark.parametrize("write", [evil_zip, evil_legacy, evil_plain])
@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("forced", [False, True])
def test_code_in_a_pickle_is_refused_and_not_run(
    write, sharded: bool, forced: bool, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "it_ran"
    weights = {**tiny("marian").state_dict(), "more": Evil(mark)}
    if sharded:
        in_shards(folder)
    write(weights, folder / ("pytorch_model-00002-of-00002.bin" if sharded else "pytorch_model.bin"))
    if forced:
        monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(ModelError, match=r"asks for \S*system, which could run any code and was not run") as raised:
        headscope.open(folder)
    assert "\n" not in str(raised.value)
    assert str(folder) in str(raised.value)
    assert not mark.exists()


def test_a_pickle_that_torch_would_not_write_is_not_run_either(folder: Path, tmp_path: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Evil(tmp_path / "it_ran"), protocol=5))
    with pytest.raises(ModelError, match="a pickle that torch did not write"):
        headscope.open(folder)
    assert not (tmp_path / "it_ran").exists()


def test_the_evil_file_is_evil(tmp_path: Path) -> None:
    """Without the restriction it does run: the test above can fail."""
    evil_zip({"more": Evil(tmp_path / "it_ran")}, tmp_path / "x.bin")
    torch.load(tmp_path / "x.bin", weights_only=False)
    assert (tmp_path / "it_ran").exists()


def test_safetensors_are_preferred_and_the_pickle_beside_them_is_not_opened(saved: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(saved, tmp_path / "both"))
    evil_zip({"more": Evil(tmp_path / "it_ran")}, folder / "pytorch_model.bin")
    headscope.open(folder).close()
    assert not (tmp_path / "it_ran").exists()


@pytest.mark.parametrize("content", [b"", b"never a pickle", b"PK\x03\x04 cut off"])
def test_a_damaged_pickle_is_one_sentence(content: bytes, folder: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(content)
    with pytest.raises(ModelError, match=str(folder)) as raised:
        headscope.open(folder)
    assert "\n" not in str(raised.value)


def test_an_archive_of_torchscript_is_refused(folder: Path) -> None:
    torch.jit.script(torch.nn.Linear(2, 2)).save(folder / "pytorch_model.bin")
    assert zipfile.is_zipfile(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="cannot be loaded"):
        headscope.open(folder)


def test_pickles_of_other_names_are_no_weights(folder: Path) -> None:
    torch.save({}, folder / "training_args.bin")
    with pytest.raises(ModelError, match=r"no weights, \*.safetensors or pytorch_model.bin \(training_args.bin is not"):
        headscope.open(folder)


def test_the_command_says_it_too(folder: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    evil_zip({"more": Evil(tmp_path / "it_ran")}, folder / "pytorch_model.bin")
    monkeypatch.setattr(sys, "argv", ["headscope", "doctor", str(folder)])
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_no_service_is_asked_to_convert(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers asks one, for a pickle on the hub, unless this variable is set while it loads."""
    seen = []
    own = torch.load

    def load(*given: object, **named: object) -> object:
        seen.append((os.environ.get("DISABLE_SAFETENSORS_CONVERSION"), named["weights_only"]))
        return own(*given, **named)

    monkeypatch.setattr(torch, "load", load)
    monkeypatch.delenv("DISABLE_SAFETENSORS_CONVERSION", raising=False)
    whole(folder)
    headscope.open(folder).close()
    assert set(seen) == {("1", True)}
    assert "DISABLE_SAFETENSORS_CONVERSION" not in os.environ


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "marian"])
def test_a_folder_without_a_tokenizer_is_told_so(family: str, tmp_path: Path) -> None:
    """Of no files, transformers makes one to which every word is unknown, or fails, each in its own way."""
    tiny(family).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"has no tokenizer that .*: save it beside the weights") as raised:
        headscope.open(tmp_path)
    assert "\n" not in str(raised.value)
    tiny_tokenizer("bpe").save_pretrained(tmp_path)
    headscope.open(tmp_path).close()
