"""Corpora: paths, order, errors that stop or are skipped, fingerprints and what a manifest says."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from headscope.errors import InputError, ReadingError
from headscope.text import Corpus
from headscope.text.skipped import EXAMPLES


def texts(corpus: Corpus) -> list[str | None]:
    return [document.text for document in corpus]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.txt", "a.txt", "sub/c.txt", ".hidden", ".git/config"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"text of {name}\n", encoding="utf-8")
    return tmp_path


def test_paths_folders_and_globs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c = "text of a.txt", "text of b.txt", "text of sub/c.txt"
    assert texts(Corpus.of(folder / "b.txt")) == [b]
    assert texts(Corpus.of(str(folder))) == [a, b, c]
    assert texts(Corpus.of(f"{folder}/*.txt")) == [a, b]
    assert texts(Corpus.of(f"{folder}/**/*.txt")) == [a, b, c]
    assert texts(Corpus.from_files(folder / "b.txt", folder / "a.txt")) == [b, a], "in the order given"
    assert texts(Corpus.of([folder / "b.txt", folder / "a.txt"])) == [b, a]
    (folder / "odd[1].txt").write_text("odd", encoding="utf-8")
    assert texts(Corpus.of(folder / "odd[1].txt")) == ["odd"], "a file is a file, whatever its name"
    monkeypatch.chdir(folder)
    assert texts(Corpus.of("*/c.txt")) == [c]


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file or folder"):
        Corpus.of(tmp_path / "gone")
    with pytest.raises(InputError, match="has no files in it"):
        Corpus.of(tmp_path)
    with pytest.raises(InputError, match="No file matches"):
        Corpus.of(f"{tmp_path}/*.txt")
    with pytest.raises(InputError, match="There is no file to read"):
        Corpus.from_files()
    for no_path in ("A text. " * 1000, "nul\0byte", "~nobody-of-this-name/file"):
        with pytest.raises(InputError):
            Corpus.of(no_path)


def test_settings_that_do_not_fit(folder: Path) -> None:
    with pytest.raises(InputError, match="no format 'txt': choose one of lines, paragraphs"):
        Corpus.of(folder, format="txt")
    with pytest.raises(InputError, match="format lines has no unit 'word': leave the unit out"):
        Corpus.of(folder, unit="word")
    with pytest.raises(InputError, match="format conllu has no unit 'word': choose one of sentence, document"):
        Corpus.of(folder, format="conllu", unit="word")
    with pytest.raises(InputError, match="no columns to choose from"):
        Corpus.of(folder, column="text")
    with pytest.raises(InputError, match='"stop" or "skip", not'):
        Corpus.of(folder, on_error="ignore")


def test_names_of_files_are_no_texts(folder: Path) -> None:
    with pytest.raises(InputError, match="names of files"):
        Corpus.of([str(folder / "a.txt"), str(folder / "b.txt")])


def test_of_a_corpus_is_itself() -> None:
    corpus = Corpus.of(["one"])
    assert Corpus.of(corpus) is corpus
    with pytest.raises(InputError, match="give on_error where it is made"):
        Corpus.of(corpus, on_error="skip")


def test_stop_names_file_and_line(write: Callable[..., Path]) -> None:
    path = write(b"good\n\ncaf\xe9\ngood\n")
    documents = iter(Corpus.of(path))
    assert next(documents).text == "good"
    with pytest.raises(InputError) as caught:
        next(documents)
    assert str(caught.value) == (
        f"{path}, line 3: the line is not UTF-8 (byte 0xe9 at position 4): convert the file, for example with iconv; "
        'correct it, or go on without it with on_error="skip".'
    )
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value), "it comes back from another process"


def test_skip_loses_nothing_else(write: Callable[..., Path]) -> None:
    one = write(b"a\nb\xff\nc\n", "one")
    other = write(b"d\n" + b"\xff\n" * 30 + b"e\n", "other")
    corpus = Corpus.from_files(one, other, on_error="skip")
    for _ in range(2):
        assert texts(corpus) == ["a", "c", "d", "e"]
        assert corpus.skipped.count == 31, "counted anew in every pass"
    assert len(corpus.skipped.examples) == EXAMPLES
    assert corpus.skipped.examples[0].place == f"{one}, line 2"
    assert corpus.skipped.examples[1].place == f"{other}, line 2"
    assert str(corpus.skipped).endswith("... and 11 more")
    assert corpus.skipped.describe()["count"] == 31


def test_skip_goes_on_after_a_damaged_file(write: Callable[..., Path]) -> None:
    broken = write(gzip.compress(b"a\nb\n" * 1000)[:-10], "1.gz")
    whole = write("good\n", "2")
    corpus = Corpus.from_files(broken, whole, format="lines", on_error="skip")
    assert texts(corpus)[-1] == "good"
    assert corpus.skipped.count == 1


def test_a_file_that_vanishes_while_others_are_read(folder: Path) -> None:
    corpus = Corpus.of(folder, on_error="skip")
    (folder / "a.txt").unlink()
    assert texts(corpus) == ["text of b.txt", "text of sub/c.txt"]
    assert corpus.skipped.count == 1
    with pytest.raises(InputError, match="cannot be read"):
        corpus.fingerprint()


def test_fingerprints_of_files(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    fingerprint = Corpus.of(folder).fingerprint()
    assert len(fingerprint) == 64
    assert fingerprint == Corpus.of(folder, on_error="skip").fingerprint()
    assert fingerprint != Corpus.of(folder, format="paragraphs").fingerprint()
    moved = tmp_path_factory.mktemp("moved") / "elsewhere"
    folder.rename(moved)
    assert fingerprint == Corpus.of(moved).fingerprint(), "a corpus may move"
    (moved / "a.txt").write_text("text of b.txt\n", encoding="utf-8")
    assert fingerprint != Corpus.of(moved).fingerprint()


def test_what_stands_in_which_file_counts(write: Callable[..., Path]) -> None:
    def fingerprint(one: str, other: str) -> str:
        return Corpus.from_files(write(one, "1"), write(other, "2")).fingerprint()

    assert len({fingerprint("ab", "c"), fingerprint("a", "bc"), fingerprint("c", "ab")}) == 3


def test_fingerprints_of_items() -> None:
    fingerprint = Corpus.of(["one", ("two", "three")]).fingerprint()
    assert fingerprint == Corpus.of([{"text": "one"}, ("two", "three")]).fingerprint()
    assert fingerprint != Corpus.of(["one", ["two", "three"]]).fingerprint()
    assert fingerprint != Corpus.of([("two", "three"), "one"]).fingerprint()


def test_descriptions(write: Callable[..., Path]) -> None:
    path = write('{"title": "one"}\n')
    assert Corpus.of(path, column="title").describe() == {
        "paths": [str(path)],
        "format": "jsonl",
        "column": "title",
        "bytes": 17,
        "on_error": "stop",
    }
    assert Corpus.of(["one"], on_error="skip").describe() == {"items": "list", "column": "text", "on_error": "skip"}


def test_errors_know_their_place() -> None:
    error = ReadingError.at("f, line 1", InputError("The text is empty: there is nothing to read."))
    assert (error.place, error.reason) == ("f, line 1", "the text is empty: there is nothing to read")
    assert ReadingError.at("elsewhere", error) is error
