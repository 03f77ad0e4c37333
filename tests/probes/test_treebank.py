"""Which sentences are for what: by their words alone."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import InputError
from headscope.probes.treebank import check_enough, read_treebank, split_evaluation, split_held_out, with_heads
from headscope.text import Document
from tests.probes.planted import documents


@given(seed=st.integers(0, 99), order=st.permutations(range(80)))
def test_parts_depend_on_the_words_alone(seed: int, order: list[int]) -> None:
    sentences = documents(80, seed)
    training, evaluation = split_evaluation(sentences)
    shuffled = split_evaluation([sentences[index] for index in order])
    names = [{document.name for document in part} for part in (training, evaluation)]
    assert [{document.name for document in part} for part in shuffled] == names
    words = [{" ".join(document.words or ()) for document in part} for part in (training, evaluation)]
    assert not words[0] & words[1], "no sentence is in both"
    learned, held_out = split_held_out(training)
    assert sorted([*learned, *held_out]) == list(range(len(training)))
    held_words = {" ".join(training[index].words or ()) for index in held_out}
    assert not held_words & {" ".join(training[index].words or ()) for index in learned}
    for text in words[1]:
        assert zlib.crc32(text.encode()) % 5 == 0
    for text in held_words:
        assert zlib.crc32(text.encode()) // 5 % 10 == 0


def test_a_fifth_and_a_tenth() -> None:
    sentences = documents(3000, longest=30)
    training, evaluation = split_evaluation(sentences)
    assert 0.17 < len(evaluation) / 3000 < 0.23
    assert 0.08 < len(split_held_out(training)[1]) / len(training) < 0.12


def test_a_limit_is_spread_over_the_treebank() -> None:
    sentences = documents(100)
    assert [d.name for d in read_treebank(sentences, max_sentences=4)] == [f"sentence {i}" for i in (0, 25, 50, 75)]
    assert len(read_treebank(sentences, max_sentences=1000)) == 100
    with pytest.raises(InputError, match="max_sentences is a number of sentences"):
        read_treebank(sentences, max_sentences=0)


def test_a_document_of_several_sentences_is_cut_into_them() -> None:
    """A word's head is in its own sentence, whatever a treebank was read by (--unit document)."""
    two = Document(words=["a", "b", "c"], parents=[-1, -1, 1], sentences=[(0, 1), (1, 3)], name="two in one")
    one, other = read_treebank([two])
    assert (one.words, one.parents) == (["a"], [-1])
    assert (other.words, other.parents, other.name) == (["b", "c"], [-1, 0], "two in one#2")


def test_what_is_no_treebank_is_said() -> None:
    with pytest.raises(InputError, match="item 1: this sentence has no dependency heads"):
        read_treebank([Document("A plain text.")])
    with pytest.raises(InputError, match="no sentences"):
        read_treebank([])


def test_too_small_a_treebank_is_said() -> None:
    sentences = documents(40)
    check_enough(sentences, sentences[:3])
    with pytest.raises(InputError, match="7 sentences are too few"):
        check_enough(sentences[:7], sentences)
    rootless = [Document(words=["word"], parents=[-1])]
    with pytest.raises(InputError, match="evaluation part has no word with a head"):
        check_enough(sentences, rootless)
    with pytest.raises(InputError, match="part to learn from has no word with a head"):  # 30 are as many as are asked for
        check_enough(rootless * 30, sentences)
    alike = next(sentence for sentence in sentences if len(split_held_out([sentence])[1]) == 0)
    with pytest.raises(InputError, match="held-out tenth has no word with a head"):
        check_enough([alike] * 30, sentences)
    assert with_heads(rootless) == 0
