"""Frequencies of pieces: ranks by hand, files there and back, what is wrong in a file, and counts of a corpus."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import InputError
from headscope.statistics.norms.frequencies import AT_A_TIME, Frequencies
from headscope.text import Corpus, Document
from tests.conftest import SHARED
from tests.tiny_tokenizers import tiny_tokenizer


def test_pieces_with_one_count_share_a_rank() -> None:
    found = Frequencies({4: 7, 9: 100, 2: 7, 30: 1})
    assert [found.rank(id) for id in (9, 2, 4, 30)] == [1, 2, 2, 4]
    assert [found.of(id) for id in (9, 2, 4, 30)] == [100, 7, 7, 1]
    assert len(found) == 4


def test_a_piece_that_is_not_there_has_no_rank() -> None:
    found = Frequencies({4: 7, 5: 0})
    assert [found.rank(id) for id in (5, 3, 6, 1000, -1)] == [None] * 5
    assert [found.of(id) for id in (5, 3, 6, 1000, -1)] == [0] * 5
    assert found.ranks([[4, 3], [1000, 4]]).tolist() == [[1, 0], [0, 1]]


@given(counts=st.dictionaries(st.integers(0, 60), st.integers(1, 5), min_size=1))
def test_a_rank_is_one_more_than_how_many_are_more_frequent(counts: dict[int, int]) -> None:
    found = Frequencies(counts)
    for id, count in counts.items():
        assert found.rank(id) == 1 + sum(other > count for other in counts.values())


@given(counts=st.dictionaries(st.integers(0, 10**6), st.integers(1, 10**12), min_size=1))
def test_there_and_back(counts: dict[int, int], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("frequency") / "counts.txt"
    Frequencies(counts).write(path)
    assert {id: count for _, count, id in Frequencies.read(path)} == counts
    again = path.with_name("again.txt")
    Frequencies.read(path).write(again)
    assert again.read_bytes() == path.read_bytes()


def test_the_order_of_a_file_is_rank_and_then_id(tmp_path: Path) -> None:
    Frequencies({8: 1, 3: 1, 5: 2}).write(tmp_path / "counts.txt")
    assert (tmp_path / "counts.txt").read_text() == "1 2 5\n2 1 3\n2 1 8\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 10 5\n2 x 6\n", r"counts.txt:2: '2 x 6' is not three whole numbers"),
        ("1 10 5\n2 6\n", r"counts.txt:2: '2 6' is not three"),
        ("1 10 5\n\n2 3 5\n", r"counts.txt:3: the piece 5 is there twice"),
        ("1 10 5\n2 0 6\n", r"counts.txt:2: ranks and counts begin at 1"),
        ("1 10 -5\n", r"counts.txt:1: .* ids at 0"),
        ("10 1 5\n3 2 6\n2 3 7\n12 4 8\n", r"counts.txt:3: the piece has rank 2 with a count of 3, but line 4 has rank 12"),
        ("1 10 5\n1 9 6\n", r"counts.txt:2: the piece has rank 1 with a count of 9"),
        ("\n", r"counts.txt is empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "counts.txt"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        Frequencies.read(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        Frequencies.read(tmp_path / "none.txt")


def test_other_ways_to_number_equal_counts_are_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    path.write_text("1 10 5\n2 3 6\n3 3 7\n4 1 8\n")
    assert [rank for rank, _, _ in Frequencies.read(path)] == [1, 2, 2, 4]


def test_counting_a_corpus_of_any_documents() -> None:
    tokenizer = tiny_tokenizer("wordpiece")
    documents = [
        Document("the cat sat . the end"),
        Document("a dog", pair="two dogs"),
        Document(words=["one", "cat"], pair_words=["the", "mat"]),
        Document("a dog", target="the end"),
    ]
    found = Frequencies.count(tokenizer, documents * AT_A_TIME)
    slow: Counter[int] = Counter()
    for texts in (["the cat sat . the end"], ["a dog", "two dogs"], ["one cat", "the mat"], ["a dog"]):
        slow.update(tokenizer(*texts)["input_ids"] * AT_A_TIME)
    assert {id: count for _, count, id in found} == slow
    assert found.of(tokenizer.cls_token_id) == 4 * AT_A_TIME


def test_a_corpus_is_read_as_it_comes() -> None:
    read = cut = 0

    def documents() -> Iterator[str]:
        nonlocal read
        for _ in range(3 * AT_A_TIME):
            read += 1
            yield "the cat"

    def tokenizer(texts: list[str], verbose: bool) -> dict[str, list[list[int]]]:
        nonlocal cut
        cut += len(texts)
        assert cut == read, "no document is read before those in hand are counted"
        return {"input_ids": [[1]] * len(texts)}

    assert Frequencies.count(tokenizer, documents()).of(1) == 3 * AT_A_TIME


def test_strings_and_corpora_will_do() -> None:
    tokenizer = tiny_tokenizer("wordpiece")
    assert list(Frequencies.count(tokenizer, ["the end"])) == list(Frequencies.count(tokenizer, Corpus.of(["the end"])))


def test_nothing_to_count() -> None:
    with pytest.raises(InputError, match="no frequencies"):
        Frequencies.count(tiny_tokenizer("wordpiece"), [])


@pytest.mark.real
def test_the_file_of_the_paper_s_authors_has_our_ranks() -> None:
    path = Path(os.environ.get("HEADSCOPE_DATA", SHARED / "data")) / "frequency" / "bert-uncased-rank-count-id.txt"
    if not path.is_file():
        pytest.skip("../shared/data/frequency is not here")
    found = Frequencies.read(path)
    assert len(found) == 29_109
    for line in path.read_text().splitlines():
        rank, count, id = map(int, line.split())
        assert (found.rank(id), found.of(id)) == (rank, count)
