"""Pieces merged to words on plain arrays: by hand, in any order, and as the lens does it on a real reading."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headscope
from headscope.views.from_reading import content_of
from headscope.views.merging import merge_pieces


def test_by_hand() -> None:
    scores = np.array([[1, 2, 4], [3, 5, 7]], dtype=np.float32)
    assert merge_pieces(scores, [0, 0], [0, 1, 0]).tolist() == [[(5 + 10) / 2, (2 + 5) / 2]]


@given(st.lists(st.integers(0, 3), min_size=4, max_size=9), st.integers(0, 100))
def test_rows_of_weights_still_sum_to_one(words: list[int], seed: int) -> None:
    words = [0, 1, 2, 3, *words]
    scores = np.random.default_rng(seed).dirichlet(np.ones(len(words)), size=(2, len(words))).astype(np.float32)
    merged = merge_pieces(scores, words, words)
    assert merged.shape == (2, 4, 4)
    np.testing.assert_allclose(merged.sum(-1), 1, atol=1e-5)


@pytest.mark.real
def test_as_the_lens_does(minilm: Path) -> None:
    with headscope.open(minilm) as lens:
        reading = lens.read("The unbelievably heavy keychain.", pair="Nobody recognised Anthropomorphism.")
    side = content_of(reading, ["weight", "norm"]).sides["source"]
    for measure in ("weight", "norm"):
        pieces = reading.scores(measure).numpy()
        words = reading.to_words()
        assert len(side.words) < len(side)
        assert merge_pieces(pieces, side.word_of, side.word_of) == pytest.approx(words.scores(measure).numpy(), abs=1e-5)
