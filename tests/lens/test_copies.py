"""Copies of GGUF models: the same to the bit, made again when they are damaged, and never more than the limit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer, PreTrainedModel
from typer.testing import CliRunner

from headscope import kernels
from headscope.cli.main import app
from headscope.lens import copies
from headscope.lens.loading import _opened, load
from tests.tiny_tokenizers import save_tiny


class Reader:
    """A file, what takes long to read out of it, and how often that was done."""

    def __init__(self, folder: Path, name: str = "x.gguf") -> None:
        self.saved = save_tiny("llama", "bpe", folder / "saved")
        self.file = folder / name
        self.file.write_bytes(b"GGUF" + name.encode())
        self.read = 0

    def slowly(self) -> copies.Opened:
        self.read += 1
        return _opened("x", str(self.saved), "float32", {})

    def open(self) -> copies.Opened:
        return copies.through_copy(self.file, "float32", self.slowly, lambda at: _opened("x", str(at), "float32", {}))


@pytest.fixture
def reader(tmp_path: Path, monkeypatch) -> Reader:
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "cache"))
    return Reader(tmp_path)


def test_read_once_and_the_same(reader: Reader) -> None:
    assert copies.is_same(reader.open(), reader.open())
    assert reader.read == 1
    (kept,) = copies.copies()
    assert kept.model == "x.gguf"
    assert kept.bytes == sum(file.stat().st_size for file in Path(kept.folder).iterdir() if file.name != "copy.json")


def test_another_file_is_another_copy(reader: Reader) -> None:
    reader.open()
    reader.file.write_bytes(b"GGUF other")
    reader.open()
    assert reader.read == 2
    assert len(copies.copies()) == 2


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json", "copy.json"])
@pytest.mark.parametrize("how", ["flipped", "cut", "gone"])
def test_a_damaged_copy_is_made_again(reader: Reader, name: str, how: str) -> None:
    before = reader.open()
    damaged = Path(copies.copies()[0].folder) / name
    content = bytearray(damaged.read_bytes())
    if how == "gone":
        damaged.unlink()
    elif how == "cut":
        damaged.write_bytes(content[: len(content) // 2])
    else:
        content[len(content) // 2] ^= 1
        if name == "copy.json":
            content = content.replace(b"files", b"filed")
        damaged.write_bytes(content)
    assert copies.is_same(before, reader.open())
    assert reader.read == 2
    reader.open()
    assert reader.read == 2


def test_a_copy_that_is_not_the_same_is_not_kept(reader: Reader) -> None:
    def otherwise(folder: Path) -> copies.Opened:
        model, tokenizer = _opened("x", str(folder), "float32", {})
        with torch.no_grad():
            next(model.parameters()).view(-1)[0] += 1e-6
        return model, tokenizer

    copies.through_copy(reader.file, "float32", reader.slowly, otherwise)
    assert copies.copies() == []


def test_the_tokenizer_counts(reader: Reader, tmp_path: Path) -> None:
    model, tokenizer = reader.open()
    other = AutoTokenizer.from_pretrained(save_tiny("llama", "unigram", tmp_path / "other"))
    assert not copies.is_same((model, tokenizer), (model, other))


def test_the_one_not_used_for_longest_goes(reader: Reader, monkeypatch) -> None:
    reader.open()
    first = copies.copies()[0]
    monkeypatch.setattr(copies, "LIMIT", int(first.bytes * 1.5))
    reader.file.write_bytes(b"GGUF other")
    reader.open()
    (left,) = copies.copies()
    assert left.folder != first.folder
    monkeypatch.setattr(copies, "LIMIT", 10)
    reader.file.write_bytes(b"GGUF larger than all that may be kept")
    reader.open()
    assert copies.copies() == [left]


def test_nothing_is_kept_where_it_must_not(reader: Reader, monkeypatch) -> None:
    monkeypatch.setenv("HEADSCOPE_CACHE", "")
    reader.open()
    reader.open()
    assert reader.read == 2


def test_a_place_that_cannot_be_written_costs_only_time(reader: Reader, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "file"))
    assert isinstance(reader.open()[0], PreTrainedModel)


def test_the_command_lists_and_clears(reader: Reader) -> None:
    reader.open()
    said = json.loads(CliRunner().invoke(app, ["cache", "--json"]).stdout)
    assert [one["model"] for one in said["copies"]] == ["x.gguf"]
    assert "1 copy" in CliRunner().invoke(app, ["cache"]).stdout
    compiled = kernels.kept_in() / "of this version" / "a kernel"
    compiled.parent.mkdir(parents=True)
    compiled.write_bytes(bytes(300_000))
    assert json.loads(CliRunner().invoke(app, ["cache", "--json"]).stdout)["compiled"] == 300_000
    assert "compiled loops, 0.3 MB" in CliRunner().invoke(app, ["cache"]).stdout
    assert "thrown away" in CliRunner().invoke(app, ["cache", "--clear"]).stdout
    assert copies.copies() == []
    assert not compiled.exists()
    reader.open()
    assert reader.read == 2


@pytest.mark.slow
def test_a_real_gguf_file(smollm: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HEADSCOPE_CACHE", "")
    plain = load(smollm)
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path))
    load(smollm)
    copied = load(smollm)
    assert copies.copies()
    assert copies.is_same(plain, copied)
    assert copied[0].config.name_or_path == plain[0].config.name_or_path
    for text in ("The keys to the cabinet", "  two  spaces\n\ttabs", "naïve 日本 👩‍🚀 <|im_start|>user"):
        assert plain[1](text)["input_ids"] == copied[1](text)["input_ids"]
