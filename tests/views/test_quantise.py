"""Bytes that keep scores: how far off they may be, for any scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from headscope.views.quantise import error, quantise, quantise_with_norms

SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 6))
NUMBERS = st.floats(0, 1e4, width=32, allow_subnormal=False)
SIGNED = st.floats(-1e4, 1e4, width=32, allow_subnormal=False)
MOST = (1 / 255) * (1 + 1e-4)  # floats of four bytes round too


@given(SHAPES.flatmap(lambda shape: arrays(np.float32, shape, elements=SIGNED)))
def test_no_score_is_off_by_more_than_1_255th_of_its_heads_largest(scores: np.ndarray) -> None:
    assert error(scores, quantise(scores).scores()) <= MOST


@given(SHAPES.flatmap(lambda shape: arrays(np.float32, shape, elements=SIGNED)))
def test_what_is_zero_stays_zero(scores: np.ndarray) -> None:
    assert (quantise(scores).scores()[scores == 0] == 0).all()


@given(st.data(), SHAPES)
def test_one_byte_keeps_the_weight_and_the_norm(data: st.DataObject, shape: tuple[int, int, int]) -> None:
    weights = data.draw(arrays(np.float32, shape, elements=st.floats(0, 1, width=32, allow_subnormal=False)))
    norms = data.draw(arrays(np.float32, (shape[0], shape[2]), elements=NUMBERS))
    kept = quantise_with_norms(weights, norms).scores()
    assert error(weights, kept) <= MOST
    assert error(weights * norms[:, None], kept * norms[:, None]) <= MOST


def test_a_sink_with_a_short_vector_does_not_swallow_the_norms_of_the_rest() -> None:
    """By hand: a head puts 0.99 on a token of norm 0.01 and 0.01 on one of norm 10: by norm the second is all there is."""
    weights, norms = np.array([[[0.99, 0.01]]], dtype=np.float32), np.array([[0.01, 10.0]], dtype=np.float32)
    shared = quantise_with_norms(weights, norms).scores() * norms
    assert shared[0, 0] == pytest.approx([0.0099, 0.1], rel=0.02)
    alone = quantise(weights).scores() * norms  # what the weight's own levels would have made of it
    assert abs(alone[0, 0, 1] - 0.1) > 0.01


def test_levels_by_hand() -> None:
    kept = quantise(np.array([[[-1.0, 0.0, 1.55]]], dtype=np.float32))
    assert kept.levels.tolist() == [[[0, 100, 255]]]
    assert kept.zeros.tolist() == [100]
