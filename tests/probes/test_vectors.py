"""Word vectors: what a file may look like, and what a word gets that is not in it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import torch

from headscope.errors import InputError
from headscope.probes import Vectors

FILE = "the 1 0 -1\ncat 0.5 2e0 .5\n. . . 4 4 4\n"  # glove.840B has a word of three points with spaces


def write(folder: Path, content: str, name: str = "vectors.txt") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    return path


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
@pytest.mark.parametrize("header", ["", "3 3\n"])
def test_a_file_by_hand(tmp_path: Path, name: str, header: str) -> None:
    vectors = Vectors.load(write(tmp_path, header + FILE, name))
    assert (len(vectors), vectors.size) == (3, 3)
    mean = torch.tensor([5.5, 6.0, 3.5]) / 3
    expected = torch.stack([torch.tensor([1.0, 0, -1]), torch.tensor([0.5, 2, 0.5]), torch.tensor([4.0, 4, 4]), mean])
    torch.testing.assert_close(vectors.of(["The", "cat", ". . .", "unheard-of"]), expected)
    assert vectors.coverage(["the", "CAT", "no", "none"]) == 0.5


def test_a_word_as_written_comes_before_its_lower_case(tmp_path: Path) -> None:
    vectors = Vectors.load(write(tmp_path, "us 1\nUS 2\nus 3\n"))
    assert vectors.of(["US", "us", "Us"]).flatten().tolist() == [2, 1, 1]


def test_only_some_words_are_kept_and_the_mean_is_that_of_all(tmp_path: Path) -> None:
    path = write(tmp_path, FILE)
    some, every = Vectors.load(path, only={"Cat", "dog"}), Vectors.load(path)
    assert len(some) == 1
    torch.testing.assert_close(some.of(["cat", "dog"]), every.of(["cat", "dog"]))
    assert not torch.equal(some.of(["the"]), every.of(["the"]))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (FILE + "dog 1 2\n", "line 4: a line must be a word and 3 numbers, but has 2"),
        (FILE + "dog 1 2 x\n", "line 4: the vector of 'dog' has something that is no number"),
        (FILE + "dog 1 2 nan\n", "line 4: the vector of 'dog' has a number that is not finite"),
        ("just some words\nof prose", "line 1.*no number"),
        ("word\n", "line 1: a line must be a word and 1 numbers"),
        ("", "no vector for any"),
        (FILE + "\0\n", "line 4: there is a NUL byte"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Vectors.load(write(tmp_path, content))


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        Vectors.load(tmp_path / "glove.txt")


@pytest.mark.real
def test_glove(glove: Path) -> None:
    vectors = Vectors.load(glove)
    assert (len(vectors), vectors.size) == (20_000, 100)
    king, queen, cabbage = torch.nn.functional.normalize(vectors.of(["King", "queen", "cabbage"]), dim=-1)
    assert king @ queen > 0.7 > 0.3 > king @ cabbage
    lines = glove.read_text(encoding="utf-8").splitlines()
    rows = torch.tensor([[float(number) for number in line.split(" ")[1:]] for line in lines])
    torch.testing.assert_close(vectors.table[:-1], rows)
    torch.testing.assert_close(vectors.of(["zyzzyvas"])[0], rows.mean(0), atol=1e-6, rtol=1e-5)
