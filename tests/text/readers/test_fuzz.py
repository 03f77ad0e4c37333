"""Whatever a file holds: documents, or an InputError with its file and line; never another exception, never silent loss."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.errors import InputError
from headscope.text import FORMATS, Corpus, Document
from tests.text.samples import SAMPLES, read_skipping, write_sample

BY_LINES = [format for format in FORMATS if format != "parquet"]
NASTY = [b"\0", b"\xff", b"\r\n", b"\n", b"\n\n", b"\t", b"\xef\xbb\xbf", b"(", b")", b"|", b"-", b"_", b"#", b'"', b"{"]
NASTY += [
    b"#begin document (x)\n",
    b"#end document\n",
    b"# newdoc\n",
    b"9" * 5000,
    b"\xed\xa0\x80",
    b"\\ud800",
    b" = T = \n\n",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def read_stopping(path: Path, format: str) -> tuple[list[Document], list[str]]:
    documents: list[Document] = []
    try:
        for document in Corpus.from_files(path, format=format):
            documents.append(document)
    except InputError as error:
        return documents, [str(error)]
    return documents, []


def check(folder: Path, format: str, content: bytes) -> list[Document]:
    """The law: skipping never raises, stopping raises the first thing skipped, and both give the same documents."""
    path = write_sample(folder, format, content)
    documents, corpus = read_skipping(path, format)
    assert all(isinstance(document, Document) for document in documents)
    for error in corpus.skipped.examples:
        assert re.fullmatch(r".*sample\.(ann|txt), (line|row) [0-9]+", error.place)
    stopped, errors = read_stopping(path, format)
    assert errors == [str(error) for error in corpus.skipped.examples[:1]]
    assert stopped == (documents[: len(stopped)] if errors else documents)
    if format in BLOCKS and not content.startswith(b"\x1f\x8b"):
        assert len(documents) + corpus.skipped.count == BLOCKS[format](content)
    with suppress(InputError):  # columns that fit no format
        list(Corpus.of(path, on_error="skip"))
    return documents


# How many documents there are in a file, good or bad, counted without the readers.


def decoded(content: bytes) -> list[str]:
    """Lines as text; a line that cannot be read is not blank."""
    lines = []
    for number, raw in enumerate(content.split(b"\n")):
        raw = raw.removeprefix(b"\xef\xbb\xbf") if number == 0 else raw
        try:
            lines.append("?" if b"\0" in raw else raw.decode().removesuffix("\r"))
        except UnicodeDecodeError:
            lines.append("?")
    return lines


def paragraphs(content: bytes) -> Iterator[list[str]]:
    lines = [line.strip() and line for line in decoded(content)]
    yield from (
        [line for line in part.split("\n") if line] for part in re.split(r"\n\n+", "\n".join(lines)) if part.strip("\n")
    )


def count_rows(content: bytes) -> int:
    def is_empty(line: str) -> bool:
        try:
            value = json.loads(line)["text"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return False
        return value == [] or (isinstance(value, str) and not value.strip())

    return sum(1 for line in decoded(content) if line.strip() and not is_empty(line))


def count_conll2012(content: bytes) -> int:
    text = "\n".join(line for line in decoded(content) if line.strip()) + "\n"
    text = re.sub(r"(?m)^#begin document", "\ue000#begin document", text)
    text = re.sub(r"(?m)^(#end document.*)$", "\\1\ue000", text)
    return sum(1 for part in text.split("\ue000") if part.strip())


BLOCKS: dict[str, Callable[[bytes], int]] = {
    "lines": lambda content: sum(1 for line in decoded(content) if line.strip()),
    "paragraphs": lambda content: sum(1 for _ in paragraphs(content)),
    "jsonl": count_rows,
    "conllu": lambda content: sum(1 for part in paragraphs(content) if any(not line.startswith("#") for line in part)),
    "conll2012": count_conll2012,
    "litbank": lambda content: 1,
}


@pytest.mark.parametrize("format", FORMATS)
def test_cut_off_at_any_byte(format: str, folder: Path) -> None:
    content = SAMPLES[format]
    for length in range(0, len(content), 1 if len(content) < 500 else 3):
        check(folder, format, content[:length])


@pytest.mark.parametrize("format", FORMATS)
@given(content=st.binary(max_size=200))
def test_random_bytes(format: str, folder: Path, content: bytes) -> None:
    check(folder, format, content)


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=50)
@given(data=st.data())
def test_something_nasty_in_a_good_file(format: str, folder: Path, data: st.DataObject) -> None:
    content = SAMPLES[format]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content)))
        removed = data.draw(st.integers(0, 20))
        inserted = data.draw(st.sampled_from(NASTY) | st.binary(max_size=4))
        content = content[:at] + inserted + content[at + removed :]
    check(folder, format, content)


@pytest.mark.parametrize("format", BY_LINES)
@settings(max_examples=30)
@given(data=st.data())
def test_bad_columns(format: str, folder: Path, data: st.DataObject) -> None:
    """Fields swapped, emptied or repeated, lines in another order."""
    lines = [line.split("\t") for line in SAMPLES[format].decode().split("\n")]
    for _ in range(data.draw(st.integers(1, 3))):
        line = data.draw(st.sampled_from(lines))
        column = data.draw(st.integers(0, len(line) - 1))
        line[column : column + 1] = data.draw(
            st.sampled_from([[], [""], ["_"], ["-1"], ["99"], ["(7"], ["7)"], line[column:]])
        )
        line += [] if line else [""]
    lines = data.draw(st.permutations(lines)) if data.draw(st.booleans()) else lines
    check(folder, format, "\n".join("\t".join(line) for line in lines).encode())


@pytest.mark.parametrize("format", BY_LINES)
def test_ends_of_lines_and_marks_change_nothing(format: str, folder: Path) -> None:
    good = check(folder, format, SAMPLES[format])
    assert good
    assert check(folder, format, SAMPLES[format].replace(b"\n", b"\r\n")) == good
    assert check(folder, format, b"\xef\xbb\xbf" + SAMPLES[format]) == good


@pytest.mark.parametrize("format", FORMATS)
def test_gzip_changes_nothing_and_may_be_cut_off_anywhere(format: str, folder: Path) -> None:
    good = check(folder, format, SAMPLES[format])
    packed = gzip.compress(SAMPLES[format])
    path = write_sample(folder, format, packed)
    assert list(Corpus.from_files(path, format=format)) == good
    for length in range(3, len(packed), 7):
        path = write_sample(folder, format, packed[:length])
        documents, corpus = read_skipping(path, format)
        assert corpus.skipped.count > 0, "what is cut off is never silently less"
        assert documents == good[: len(documents)]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "utf-32", "cp1252"])
@pytest.mark.parametrize("format", BY_LINES)
def test_wrong_encodings_are_never_read_as_something_else(format: str, encoding: str, folder: Path) -> None:
    content = SAMPLES[format].decode().replace("Ann", "Ánn").encode(encoding)
    path = write_sample(folder, format, content)
    documents, corpus = read_skipping(path, format)
    assert corpus.skipped.count > 0
    assert not any("\ufffd" in str(document) or "\0" in str(document) for document in documents)


@pytest.mark.parametrize("format", BY_LINES)
def test_a_huge_line_costs_its_own_document_only(format: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.text.readers.lines.lines_of.__defaults__", (1000,))
    content = SAMPLES[format] + b"\n" + b"x" * 5000 + b"\n\n"
    path = write_sample(folder, format, content)
    documents, corpus = read_skipping(path, format)
    assert corpus.skipped.count == 1
    assert "longer than 1,000 bytes" in corpus.skipped.examples[0].reason
    whole = list(Corpus.from_files(write_sample(folder, format, SAMPLES[format]), format=format))
    lost = {"litbank": 1, "paragraph-pairs": 1}  # it is one document; it joins the last article's pair
    assert len(documents) == len(whole) - lost.get(format, 0)
