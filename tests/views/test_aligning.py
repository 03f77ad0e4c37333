"""Two sequences side by side: nothing is lost, nothing changes its order, and exchanging the two exchanges every pair."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.views.aligning import align

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


@given(WORDS, WORDS)
def test_all_of_both_is_there_once_and_in_order(first: list[str], second: list[str]) -> None:
    pairs = align(first, second)
    assert [one for one, _ in pairs if one is not None] == list(range(len(first)))
    assert [other for _, other in pairs if other is not None] == list(range(len(second)))
    assert (None, None) not in pairs


@given(WORDS, WORDS)
def test_exchanging_the_two_exchanges_every_pair(first: list[str], second: list[str]) -> None:
    paired = [(one, other) for one, other in align(first, second) if one is not None and other is not None]
    turned = [(other, one) for one, other in align(second, first) if one is not None and other is not None]
    assert turned == paired


@given(WORDS, WORDS)
def test_between_pairs_what_was_left_out_comes_first(first: list[str], second: list[str]) -> None:
    pairs = align(first, second)
    for before, after in itertools.pairwise(pairs):
        assert not (before[0] is None and after[1] is None)


@given(WORDS)
def test_what_is_the_same_is_paired_with_itself(words: list[str]) -> None:
    assert align(words, words) == [(place, place) for place in range(len(words))]


@given(WORDS, WORDS)
def test_only_as_many_may_stand_in_the_place_of_others(first: list[str], second: list[str]) -> None:
    strict = align(first, second, may_replace=lambda one, other: one == other)
    assert all(first[one] == second[other] for one, other in strict if one is not None and other is not None)
    usual = [pair for pair in align(first, second) if None not in pair]
    assert {pair for pair in strict if None not in pair} <= set(usual)  # the same matches, and exchanges beside them


@pytest.mark.parametrize(
    ("first", "second", "pairs"),
    [
        ("", "", []),
        ("", "a", [(None, 0)]),
        ("ab", "", [(0, None), (1, None)]),
        ("xay", "xby", [(0, 0), (1, 1), (2, 2)]),  # exchanged
        ("xaby", "xcy", [(0, 0), (1, None), (2, None), (None, 1), (3, 2)]),  # two in the place of one
    ],
)
def test_by_hand(first: str, second: str, pairs: list[tuple[int | None, int | None]]) -> None:
    assert align(first, second) == pairs
