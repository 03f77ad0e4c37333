"""A corpus is cut by places: reading from one is reading from the beginning, and the fast count is the slow one."""

from __future__ import annotations

import gzip
import pickle
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import InputError, ReadingError
from headscope.files import sha256_of
from headscope.study.shards import shards_at
from headscope.text import Corpus, Document
from headscope.text.pieces import NotHere, Piece
from headscope.text.readers import paths, places
from headscope.text.readers.file_source import FileSource
from headscope.text.readers.formats import FORMATS
from headscope.text.readers.places import NotPlain, filled_lines
from tests.text.samples import SAMPLES, write_sample

LINES = ["A first line.", "", "Zwei Wörter\r", "   ", "\u3000\x1c", "日本", "x" * 300, "", "end"]
PARAGRAPHS = [f"Paragraph {n}\nof two lines , é .\n{'' if n % 3 else chr(10)}" for n in range(20)]
WIKI = [" = Title {} = \n \n A @-@ b paragraph {} . \n Another one . \n", " = = Part = = \n \n more of it . \n"]

FILES = {
    "lines": ["\n".join(LINES), "\ufeff" + "\n".join(LINES) + "\n", "\n\n"],
    "paragraphs": ["\n".join(PARAGRAPHS), "One.\n\nTwo.\n"],
    "paragraph-pairs": ["".join(part.format(n, n) for n in range(9) for part in WIKI), "\n\n".join("abcdefg")],
    "jsonl": ['{"text": "one"}\n{"text": ""}\n\n{"text": "zwé"}\n' * 5, '{"text": "last"}'],
}


def corpus_of(folder: Path, format: str, **settings: object) -> Corpus:
    files = []
    for number, text in enumerate(FILES[format]):
        files.append(folder / f"{number}.txt")
        files[-1].write_text(text, encoding="utf-8", newline="")
    return Corpus.from_files(*files, format=format, **settings)


def pieces_of(corpus: Corpus, size: int) -> list[list[Document]]:
    cut = corpus.cut(size)
    assert cut.source is not None
    return [list(pickle.loads(pickle.dumps(cut.piece(index)))) for index in range(-(-cut.documents // size))]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("format", FILES)
def test_pieces_are_the_corpus(tmp_path: Path, format: str, size: int) -> None:
    corpus = corpus_of(tmp_path, format)
    documents = list(corpus)
    assert pieces_of(corpus, size) == [documents[start : start + size] for start in range(0, len(documents), size)]


def test_what_is_skipped_is_in_no_piece_and_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\nb\xffd\ntwo\nthr\0ee\nfour\n")
    corpus = Corpus.from_files(tmp_path / "a.txt", format="lines", on_error="skip")
    assert [[one.text for one in piece] for piece in pieces_of(corpus, 2)] == [["one", "two"], ["four"]]
    documents = list(corpus)
    assert corpus.cut(2).documents == len(documents)
    assert corpus.cut(2).skipped.describe() == corpus.skipped.describe()
    with pytest.raises(ReadingError, match="line 2"):
        Corpus.from_files(tmp_path / "a.txt", format="lines").cut(2)


TEXTS = st.lists(st.text("a \t\r\x0b\x0c\x1c\x85\xa0\u2028\ufeffé日\n", max_size=6), max_size=30)


@given(TEXTS, st.integers(1, 5), st.integers(1, 40))
def test_lines_are_counted_as_they_are_read(texts: list[str], every: int, at_once: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "a.txt"
        path.write_text("\n".join(texts), encoding="utf-8", newline="")
        source = FileSource([path], "lines")
        slow = [place for _, place in source.placed()]
        patch.setattr(places, "AT_ONCE", at_once)
        assert source.places(every) == (len(slow), slow[::every])


@pytest.mark.parametrize("content", [b"a\0b\n", b"\xff\xfea\n", b"a\n" + b"x" * 2**24])
def test_what_takes_reading_is_left_to_it(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(NotPlain):
        filled_lines(tmp_path / "a.txt", 0, 2)


def test_a_packed_file_has_no_places(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.txt.gz", "wt") as file:
        file.write("one\ntwo\n")
    cut = Corpus.from_files(tmp_path / "a.txt.gz").cut(1)
    assert (cut.documents, cut.source) == (2, None)


def test_a_piece_is_small_and_of_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("some line\n" * 100_000)
    piece = Corpus.from_files(path).cut(1000).piece(99)
    assert isinstance(piece, Piece)
    assert len(pickle.dumps(piece)) < 1000
    assert [one.name for one in piece][-1] == f"{path}:100000"
    path.write_text("another\n")
    with pytest.raises(InputError, match="is not the file that the run was begun with"):
        list(piece)
    path.unlink()
    with pytest.raises(NotHere):
        list(piece)


@pytest.mark.parametrize("format", SAMPLES)
def test_a_small_corpus_is_parsed_once_for_its_count_and_its_pieces(
    tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of lines, which are counted without reading documents, once too: as pieces."""
    corpus = Corpus.from_files(write_sample(tmp_path, format, SAMPLES[format]), format=format)
    documents = list(corpus)
    parsed: list[str] = []
    known = FORMATS[format]
    watched = replace(known, read=lambda path, **how: (parsed.append(path.name), known.read(path, **how))[1])
    monkeypatch.setitem(FORMATS, format, watched)
    cut = corpus.cut(len(documents))
    (shard,) = shards_at(cut, corpus.bare(), {0})
    assert list(shard.documents) == documents
    assert len(parsed) == 1
    monkeypatch.setattr("headscope.text.corpus.KEPT", 0)
    (shard,) = shards_at(corpus.cut(len(documents)), corpus.bare(), {0})
    assert list(shard.documents) == documents, "a large one is parsed again"
    assert len(parsed) == (2 if format == "lines" else 3)


def test_a_file_is_hashed_again_only_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    monkeypatch.setattr(paths, "sha256_of", lambda path: (hashed.append(path.name), sha256_of(path))[1])
    corpus = corpus_of(tmp_path, "lines")
    first = corpus.fingerprint()
    assert corpus.fingerprint() == first
    assert sorted(hashed) == ["0.txt", "1.txt", "2.txt"]
    (tmp_path / "1.txt").write_text("another text")
    assert corpus.fingerprint() != first
    assert len(hashed) == 4
