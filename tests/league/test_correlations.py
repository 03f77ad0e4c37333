"""Rank correlations as scipy and regressions on layers have them, for any numbers, draw by draw."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from headscope.league.correlations import Ranked, given_layer, spearman, within_layers

NUMBERS = st.lists(st.integers(-4, 4), min_size=24, max_size=24)  # with ties
LAYERS = [0] * 3 + [1] * 5 + [2] * 3 + [3]


def arrays(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=float).reshape(2, 12)


@given(one=NUMBERS, other=NUMBERS)
@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
def test_they_are_those_of_scipy(one: list[int], other: list[int]) -> None:
    x, y = arrays(one), arrays(other)
    ranked = Ranked(x, LAYERS), Ranked(y, LAYERS)
    found = spearman(*ranked), within_layers(*ranked)
    for draw in range(2):
        np.testing.assert_allclose(found[0][draw], spearmanr(x[draw], y[draw]).statistic, atol=1e-12)
        by_layer = [spearmanr(x[draw, here], y[draw, here]).statistic for here in (slice(0, 3), slice(3, 8), slice(8, 11))]
        mean = np.nan if np.isnan(by_layer).all() else np.nanmean(by_layer)
        np.testing.assert_allclose(found[1][draw], mean, atol=1e-12)


@given(one=NUMBERS, other=NUMBERS)
def test_given_the_layer_is_what_regressions_on_it_leave(one: list[int], other: list[int]) -> None:
    x, y = arrays(one)[0], arrays(other)[0]
    layers = np.eye(4)[LAYERS]
    left = [ranks - layers @ np.linalg.lstsq(layers, ranks, rcond=None)[0] for ranks in (rankdata(x), rankdata(y))]
    found = given_layer(Ranked(x, LAYERS), Ranked(y, LAYERS))
    if all(np.abs(some).max() > 1e-6 for some in left):
        expected = np.corrcoef(*left)[0, 1]
        np.testing.assert_allclose(found, expected, atol=1e-9)
    else:
        assert np.isnan(found)


def test_two_heads_have_no_order_and_one_unknown_spoils_the_draw() -> None:
    assert np.isnan(spearman(Ranked(np.array([1.0, 2.0])), Ranked(np.array([1.0, 2.0]))))
    assert np.isnan(spearman(Ranked(np.array([1.0, 2.0, np.nan])), Ranked(np.array([1.0, 2.0, 3.0]))))
    pairs = Ranked(np.arange(4.0), [0, 0, 1, 1])
    assert np.isnan(within_layers(pairs, pairs))
