"""UAS against a loop over the documents, and its interval against what sampling theory says."""

from __future__ import annotations

import numpy as np
import pytest

from headscope.probes import Examples, RightBranching
from headscope.probes.attachment import attachment, interval
from headscope.text import Document
from tests.probes.planted import documents

BY_HAND = Document(
    words=["Dogs", "chase", "cats", ",", "not", "mice", "."],
    parents=[1, -1, 1, 5, 5, 2, 1],
    relations=["nsubj", "root", "obj", "punct", "advmod", "conj", "punct"],
)


def test_right_branching_on_a_sentence_by_hand() -> None:
    """Right: Dogs -> chase, not -> mice; `,` -> not is wrong, and the last word has nothing to its right."""
    found = attachment(RightBranching(), Examples([BY_HAND]))
    assert (found.right.tolist(), found.words.tolist()) == ([2], [6])
    assert found.uas == 2 / 6
    assert found.uas_without_punctuation == 2 / 4


def test_against_a_loop() -> None:
    sentences = documents(70, seed=2)
    found = attachment(RightBranching(), Examples(sentences))
    right = words = right_other = words_other = 0
    for document in sentences:
        for word, head in enumerate(document.parents or ()):
            if head >= 0:
                words += 1
                right += head == word + 1
                if (document.relations or ())[word] != "punct":
                    words_other += 1
                    right_other += head == word + 1
    assert found.uas == right / words
    assert found.uas_without_punctuation == right_other / words_other
    assert found.uas != found.uas_without_punctuation


def test_without_relations_there_is_no_second_number() -> None:
    bare = [Document(words=d.words, parents=d.parents) for d in documents(20)]
    found = attachment(RightBranching(), Examples(bare))
    assert np.isnan(found.uas_without_punctuation)
    assert found.uas == attachment(RightBranching(), Examples(documents(20))).uas


def test_the_interval_of_independent_words_is_the_binomial_one() -> None:
    right = np.random.default_rng(1).integers(0, 2, 4000)
    low, high = interval(right, np.ones_like(right))
    p = right.mean()
    half = 1.96 * np.sqrt(p * (1 - p) / len(right))
    assert (low, high) == (pytest.approx(p - half, abs=0.002), pytest.approx(p + half, abs=0.002))


def test_sentences_and_not_words_are_drawn() -> None:
    """Ten words that are all right or all wrong are no more than one: the interval is that of a tenth of the words."""
    right = np.random.default_rng(1).integers(0, 2, 400)
    one_each = interval(right, np.ones_like(right))
    ten_each = interval(10 * right, np.full_like(right, 10))
    assert ten_each == pytest.approx(one_each)


def test_one_sentence_has_no_width() -> None:
    assert interval(np.array([3]), np.array([4])) == (0.75, 0.75)
