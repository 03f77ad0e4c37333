"""Formats are recognised by what is in a file, however it is named, packed or ended."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from headscope.errors import InputError
from headscope.text import FORMATS, Corpus
from headscope.text.readers.recognise import recognise, recognise_bytes
from tests.text.samples import SAMPLES, write_sample

# Pairs of paragraphs are paragraphs that someone wants in pairs.
RECOGNISED = {**{name: name for name in FORMATS}, "paragraph-pairs": "paragraphs"}


def test_there_is_a_sample_of_every_format() -> None:
    assert list(SAMPLES) == list(FORMATS)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format(format: str, tmp_path: Path) -> None:
    path = write_sample(tmp_path, format, SAMPLES[format])
    assert recognise(path) == RECOGNISED[format]
    path.write_bytes(gzip.compress(SAMPLES[format]))
    assert recognise(path) == RECOGNISED[format]
    assert list(Corpus.of(path)) == list(Corpus.from_files(path, format=RECOGNISED[format])) != []


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "parquet"])
def test_marks_and_other_ends_of_lines(format: str) -> None:
    assert recognise_bytes(b"\xef\xbb\xbf" + SAMPLES[format].replace(b"\n", b"\r\n")) == RECOGNISED[format]


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (b"", None),
        (b"\n \n", None),
        (b"a single line\n\n", None),
        (b"\n\na text\nof lines\n\n\n", "lines"),
        (b"# a heading in markdown\ntext\n", "lines"),
        (b'{\n  "text": "spread over lines"\n}\n', "jsonl"),
        (b'[\n{"text": "an array"}]', "jsonl"),
        (b"{curly} text\nmore\n", "lines"),
        (b"[citation needed]\nmore\n", "lines"),
        (b"1\tten\tcolumns\nof\tno\ttreebank\n", "lines"),
        (b"\xff\xfe\x00", None),
    ],
)
def test_what_looks_like_something_else(content: bytes, format: str | None) -> None:
    assert recognise_bytes(content) == format


def test_columns_that_fit_no_format_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text("".join(f"{number}\tword{number}\tNOUN\n" for number in range(6)))
    with pytest.raises(InputError) as told:
        Corpus.of(path)
    assert str(told.value) == (
        f"{path} has 3 columns and is none of the formats that have (conll2012: its first line is '0\\tword0\\tNOUN', not "
        "'#begin document'; conllu: its first row has 3 columns parted by tabs, not 10; litbank: its first row begins "
        "with '0', not with one of MENTION, COREF, COP, APPOS; jsonl: its first line is '0\\tword0\\tNOUN', which is no "
        "object): bring it into one of them, or have it read as plain text, "
        'with format="lines" (study --format lines, or of a paper --text-format lines).'
    )
    assert len(list(Corpus.from_files(path, format="lines"))) == 6
    path.write_text("# begin document GUM_x\n" + path.read_text().replace("NOUN", "_"))
    assert Corpus.of(path).describe()["format"] == "conll2012"


@pytest.mark.parametrize(("layer", "called"), [("parents", "syntactic heads"), ("mentions", "mentions")])
def test_a_format_without_what_is_needed_is_refused_with_why(layer: str, called: str, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("A text.\nAnother.\n")
    with pytest.raises(
        InputError, match=f"is read as lines, which has no {called} \\(.*conllu: its first row has 1 column parted"
    ):
        Corpus.from_files(path, needs=layer)
    path.write_bytes(SAMPLES["conllu"])
    assert list(Corpus.from_files(path, needs=layer)) == list(Corpus.of(path))


def test_one_corpus_has_one_format(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_bytes(SAMPLES["conllu"])
    (tmp_path / "licence").write_bytes(b"One line.\nAnother.\n")
    with pytest.raises(InputError, match=r"a\.conllu looks like conllu and .*licence like lines.*format="):
        Corpus.of(tmp_path)
    (tmp_path / "licence").write_bytes(b"\n")
    assert Corpus.of(tmp_path).describe()["format"] == "conllu", "an empty file agrees with every format"
