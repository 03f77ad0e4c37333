"""How much a head has changed: against a loop, by hand, and the laws of a distance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.views.change import change

SEEDS = st.integers(0, 10_000)


def rows(seed: int, heads: int = 3, queries: int = 4, keys: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(keys, 0.4), size=(heads, queries)).astype(np.float32)


def looped(first: np.ndarray, second: np.ndarray, both: list[bool], sinks: list[bool]) -> list[float]:
    """The formula, number by number."""
    found = []
    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        distances = []
        for row, counted in enumerate(both):
            if not counted:
                continue
            a, b = ([x / sum(map[row]) for x in map[row]] for map in (one, other))
            apart = sum(abs(y - x) for x, y, sink in zip(a, b, sinks, strict=True) if not sink)
            on_sinks = [sum(x for x, sink in zip(row, sinks, strict=True) if sink) for row in (a, b)]
            distances.append((apart + abs(on_sinks[1] - on_sinks[0])) / 2)
        found.append(sum(distances) / len(distances))
    return found


@given(SEEDS, SEEDS, st.lists(st.booleans(), min_size=4, max_size=4), st.lists(st.booleans(), min_size=5, max_size=5))
def test_against_a_loop(one: int, other: int, both: list[bool], sinks: list[bool]) -> None:
    first, second = rows(one), 3 * rows(other)  # the size of a row is no change
    found = change(first, second, np.array(both), np.array(sinks))
    if any(both):
        assert found.tolist() == pytest.approx(looped(first, second, both, sinks), abs=1e-5)
    else:
        assert np.isnan(found).all()


@given(SEEDS, SEEDS)
def test_laws_of_a_distance(one: int, other: int) -> None:
    first, second, both = rows(one), rows(other), np.full(4, True)
    assert change(first, first, both).tolist() == [0, 0, 0]
    assert np.array_equal(change(first, second, both), change(second, first, both))
    assert ((change(first, second, both) >= 0) & (change(first, second, both) <= 1 + 1e-6)).all()


def test_by_hand() -> None:
    before = np.array([[[0.5, 0.5, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]], dtype=np.float32)
    after = np.array([[[0.5, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0]]], dtype=np.float32)
    both = np.array([True, True])
    assert change(before, after, both).tolist() == [0.5]  # the second row has one key in either: it is not counted
    assert change(before, after, both, np.array([False, True, True, False])).tolist() == [0]  # from a sink to a sink
    assert math.isnan(change(before, after, np.array([False, True]))[0])


def test_nothing_in_common_is_one() -> None:
    before, after = np.array([[[0.5, 0.5, 0, 0]]], dtype=np.float32), np.array([[[0, 0, 0.2, 0.8]]], dtype=np.float32)
    assert change(before, after, np.array([True])).tolist() == [1]
