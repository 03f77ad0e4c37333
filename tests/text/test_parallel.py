"""Parallel texts: one file or two, either side first, and errors that name the file and the line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import InputError
from headscope.text import Document
from headscope.text.parallel import parallel_documents, sentence_lengths

Write = Callable[..., Path]
word = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5).filter(lambda text: text != "|||")
sides = st.lists(st.tuples(st.lists(word, min_size=1, max_size=4), st.lists(word, min_size=1, max_size=4)), max_size=5)


def test_one_file(write: Write) -> None:
    path = write("le  chien ||| the dog \noui\t||| yes\r\n")
    first, second = parallel_documents(path)
    assert first == Document(words=["le", "chien"], target_words=["the", "dog"], name=f"{path}:1")
    assert second == Document(words=["oui"], target_words=["yes"], name=f"{path}:2")


def test_the_target_first(write: Write) -> None:
    path = write("the black dog ||| le chien\n")
    (document,) = parallel_documents(path, first="target")
    assert document.words == ["le", "chien"]
    assert document.target_words == ["the", "black", "dog"]
    assert list(sentence_lengths([document])) == [(2, 3)]


def test_two_files(write: Write) -> None:
    source, target = write("le chien\noui\n", "fr"), write("the dog\nyes", "en")
    documents = list(parallel_documents(source, target))
    assert [document.words for document in documents] == [["le", "chien"], ["oui"]]
    assert [document.target_words for document in documents] == [["the", "dog"], ["yes"]]
    assert [document.name for document in documents] == [f"{source}:1", f"{source}:2"]


@given(pairs=sides)
def test_one_file_or_two_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[list[str], list[str]]]
) -> None:
    folder = tmp_path_factory.mktemp("parallel")
    joined = [(" ".join(source), " ".join(target)) for source, target in pairs]
    texts = {
        "fr": [source for source, _ in joined],
        "en": [target for _, target in joined],
        "fr-en": [f"{source} ||| {target}" for source, target in joined],
        "en-fr": [f"{target} ||| {source}" for source, target in joined],
    }
    for name, lines in texts.items():
        (folder / name).write_bytes("".join(f"{line}\n" for line in lines).encode())
    for corpus in (
        parallel_documents(folder / "fr", folder / "en"),
        parallel_documents(folder / "fr-en"),
        parallel_documents(folder / "en-fr", first="target"),
    ):
        for _ in range(2):  # a corpus can be read again
            assert [(document.words, document.target_words) for document in corpus] == pairs


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("le chien the dog", "there is no ||| between the two sides, with spaces around it"),
        ("le chien|||the dog", "there is no ||| between the two sides, with spaces around it"),
        ("", "there is no ||| between the two sides"),
        ("a ||| b ||| c", "there is more than one ||| between the two sides"),
        (" ||| the dog", "the source side is empty"),
        ("le chien |||", "the target side is empty"),
        ("le \u00a0 chien ||| the dog", "the text's words are empty, or one of them is"),
        (b"\xe9 ||| e", "the line is not UTF-8"),
    ],
)
def test_what_is_no_pair(write: Write, line: str | bytes, expected: str) -> None:
    line = line if isinstance(line, bytes) else line.encode()
    path = write(b"a ||| b\n" + line + b"\nc ||| d\n")
    with pytest.raises(InputError) as caught:
        list(parallel_documents(path))
    assert str(caught.value).startswith(f"{path}, line 2: {expected}")
    corpus = parallel_documents(path, on_error="skip")
    assert [document.words for document in corpus] == [["a"], ["c"]]
    assert corpus.skipped.count == 1


def test_the_file_named_is_the_one_at_fault(write: Write) -> None:
    source, target = write("a\nb\nc\n", "fr"), write(b"x\n \nz\n", "en")
    with pytest.raises(InputError, match=r"en, line 2: the target side is empty"):
        list(parallel_documents(source, target))
    with pytest.raises(InputError, match=r"en, line 2: the source side is empty"):
        list(parallel_documents(target, source))
    with pytest.raises(InputError, match=r"en, line 2: the line is not UTF-8"):
        list(parallel_documents(source, write(b"x\n\xff\nz\n", "en")))


@pytest.mark.parametrize("on_error", ["stop", "skip"])
@pytest.mark.parametrize("swapped", [False, True])
def test_different_numbers_of_lines(write: Write, on_error: str, swapped: bool) -> None:
    short, long = write("a\nb\n", "fr"), write("x\ny\nz\n", "en")
    files = (long, short) if swapped else (short, long)
    with pytest.raises(InputError) as caught:
        list(parallel_documents(*files, on_error=on_error))  # type: ignore[arg-type]
    assert f"{short} ends after line 2, but {long} goes on" in str(caught.value)
    empty = write("", "empty")
    with pytest.raises(InputError, match="empty ends after line 0"):
        list(parallel_documents(empty, long))


def test_settings(write: Write, tmp_path: Path) -> None:
    path = write("a ||| b\n")
    with pytest.raises(InputError, match="source or target, not 'left'"):
        parallel_documents(path, first="left")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="swap the two files"):
        parallel_documents(path, path, first="target")
    with pytest.raises(InputError, match="There is no file"):
        parallel_documents(tmp_path / "nowhere")
    write("a ||| b\n", "second")
    with pytest.raises(InputError, match="are 2 files"):
        parallel_documents(tmp_path)


def test_the_fingerprint_is_of_content_and_settings(write: Write) -> None:
    one, moved, other = write("a ||| b\n", "one"), write("a ||| b\n", "moved"), write("a ||| c\n", "other")
    fingerprint = parallel_documents(one).fingerprint()
    assert parallel_documents(moved).fingerprint() == fingerprint
    different = [
        parallel_documents(other),
        parallel_documents(one, first="target"),
        parallel_documents(one, other),
        parallel_documents(other, one),
    ]
    assert len({fingerprint, *(corpus.fingerprint() for corpus in different)}) == 5
    described = parallel_documents(one, other).describe()
    assert described["paths"] == [str(one), str(other)]
    assert (described["format"], described["bytes"]) == ("parallel", 16)
    corpus = parallel_documents(one, other)
    one.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        corpus.fingerprint()


@pytest.mark.real
def test_hansards(data: Path) -> None:
    path = data / "alignment" / "hansards" / "en-fr.txt"
    documents = list(parallel_documents(path, first="target"))
    assert len(documents) == 200
    sides = [line.split("|||") for line in path.read_text(encoding="utf-8").splitlines()]
    assert [" ".join(document.words or ()) for document in documents] == [" ".join(side[1].split()) for side in sides]
    assert [" ".join(document.target_words or ()) for document in documents] == [" ".join(side[0].split()) for side in sides]
    assert documents[2].words == ["oh", ",", "oh", "!"]
