"""Rows: JSON Lines, Parquet and what Python iterates over."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import InputError
from headscope.text import Corpus, Document
from headscope.text.readers.jsonl import read_jsonl
from headscope.text.readers.lines import Line
from tests.text.samples import numbered, parquet_bytes

DEEP = "[" * 100_000


def test_jsonl_by_hand() -> None:
    lines = numbered('{"text": "one", "n": 1}\n\n{"text": ["two", "words"]}\n{"text": " "}\n{"text": []}')
    assert list(read_jsonl(lines, "f")) == [Document("one", name="f:1"), Document(words=["two", "words"], name="f:3")]
    assert [
        document.text for document in read_jsonl(numbered('{"a": "b"}'), "f", column="a") if isinstance(document, Document)
    ] == ["b"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "cut', "this is not JSON on one line"),
        (DEEP, "this is not JSON on one line"),
        ("1" * 5000, "this is not JSON on one line"),
        ('["text"]', "not list"),
        ("{}", "there is no column 'text', but no column at all"),
        ('{"a": 1, "b": 2}', "there is no column 'text', but 'a', 'b': choose one with column="),
        ('{"text": null}', "must hold a text or a list of words, not NoneType"),
        ('{"text": [1]}', "not a list of other things"),
        ('{"text": ["a", " "]}', "words are empty, or one of them is"),
        ('{"text": "\\ud800"}', "half a character"),
    ],
)
def test_a_bad_row_and_the_next(line: str, message: str) -> None:
    bad, good = read_jsonl([Line(1, line), Line(2, '{"text": "good"}')], "f")
    assert str(bad).startswith("f, line 1: ")
    assert message in str(bad)
    assert good == Document("good", name="f:2")


def test_parquet_by_hand(write: Callable[..., Path]) -> None:
    path = write(parquet_bytes(text=["one", "", None, "four", " "], words=[["a"], ["b", "c"], None, [], ["d"]]))
    corpus = Corpus.from_files(path, on_error="skip")
    assert [(document.text, document.name) for document in corpus] == [("one", f"{path}:1"), ("four", f"{path}:4")]
    assert [error.place for error in corpus.skipped.examples] == [f"{path}, row 3"]
    corpus = Corpus.from_files(path, column="words", on_error="skip")
    assert [document.words for document in corpus] == [["a"], ["b", "c"], ["d"]]


def test_parquet_errors(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(parquet_bytes(title=["a"], n=[1]))
    with pytest.raises(InputError, match=r"row 1: there is no column 'text', but 'title', 'n': choose one with column="):
        list(Corpus.from_files(path))
    with pytest.raises(InputError, match="must hold a text or a list of words, not int"):
        list(Corpus.from_files(path, column="n"))
    with pytest.raises(InputError, match="row 1: the file is damaged from here on"):
        list(Corpus.from_files(write(path.read_bytes()[:-20])))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match="pip install pyarrow"):
        list(Corpus.from_files(path))


def test_parquet_whose_text_is_not_utf8(write: Callable[..., Path], tmp_path: Path) -> None:
    column = pyarrow.array([b"good", b"caf\xe9", b"too"]).view(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table({"text": column}), tmp_path / "bad")
    corpus = Corpus.from_files(tmp_path / "bad", on_error="skip")
    assert [document.text for document in corpus] == ["good", "too"]
    assert [error.place for error in corpus.skipped.examples] == [f"{tmp_path / 'bad'}, row 2"]


def test_gzipped_parquet(write: Callable[..., Path]) -> None:
    packed = gzip.compress(parquet_bytes(text=["one", "two"]))
    assert [document.text for document in Corpus.from_files(write(packed))] == ["one", "two"]
    with pytest.raises(InputError, match="damaged"):
        list(Corpus.from_files(write(packed[:-20]), format="parquet"))


def test_items_of_every_kind() -> None:
    document = Document("own", name="mine")
    items = ["one", ("two", "three"), ["four", "five"], document, {"text": "six"}, "", {"text": ""}]
    assert list(Corpus.from_documents(items)) == [
        Document("one", name="item 1"),
        Document("two", pair="three", name="item 2"),
        Document(words=["four", "five"], name="item 3"),
        document,
        Document("six", name="item 5"),
    ]


def test_bad_items_are_named() -> None:
    corpus = Corpus.from_documents(["one", 2, ("three", " "), "four"], on_error="skip")
    assert [document.text for document in corpus] == ["one", "four"]
    assert [error.place for error in corpus.skipped.examples] == ["item 2", "item 3"]
    with pytest.raises(InputError, match=r"^item 2: a document must be"):
        list(Corpus.from_documents(["one", 2]))


class Dataset:
    """Like a Hugging Face dataset: rows are dicts, and it can be iterated over again."""

    column_names = ("sentence", "tokens")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield {"sentence": "one", "tokens": ["o"]}
        yield {"sentence": "two", "tokens": ["t"]}


class Indexed:
    """Like a torch dataset: rows by number only."""

    def __getitem__(self, index: int) -> str:
        return ["one", "two"][index]


def test_datasets() -> None:
    corpus = Corpus.of(Dataset(), column="sentence")
    assert [document.text for document in corpus] == [document.text for document in corpus] == ["one", "two"]
    assert [document.words for document in Corpus.of(Dataset(), column="tokens")] == [["o"], ["t"]]
    assert [document.text for document in Corpus.of(Indexed())] == ["one", "two"]
    with pytest.raises(InputError, match="there is no column 'text', but 'sentence', 'tokens'"):
        list(Corpus.of(Dataset()))


def test_what_would_be_iterated_over_wrongly() -> None:
    with pytest.raises(InputError, match=r"choose one, as in dataset\['train'\]"):
        Corpus.of({"train": Dataset(), "test": Dataset()})
    with pytest.raises(InputError, match="goes by columns"):
        Corpus.of(pyarrow.table({"text": ["a"]}))
    with pytest.raises(InputError, match="not int"):
        Corpus.of(3)


def test_an_iterator_is_read_once() -> None:
    corpus = Corpus.of(text for text in ("one", "two"))
    with pytest.raises(InputError, match="known after it has been read"):
        corpus.fingerprint()
    assert len(list(corpus)) == 2
    assert corpus.fingerprint() == Corpus.of(["one", "two"]).fingerprint()
    with pytest.raises(InputError, match="can be read once"):
        list(corpus)


texts = st.lists(st.text(min_size=1).filter(lambda text: text.strip()), max_size=6)


@given(texts=texts)
def test_any_text_comes_back_from_json_and_parquet(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    lines = [Line(number, json.dumps({"text": text})) for number, text in enumerate(texts, 1)]
    assert [document.text for document in read_jsonl(lines, "f") if isinstance(document, Document)] == texts
    path = tmp_path_factory.mktemp("rows") / "texts"
    path.write_bytes(parquet_bytes(text=pyarrow.array(texts, pyarrow.string())))  # type: ignore[arg-type]
    assert [document.text for document in Corpus.from_files(path)] == texts
