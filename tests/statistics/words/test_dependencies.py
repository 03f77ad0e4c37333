"""Attention between related words, and how far apart they stand: by hand."""

from __future__ import annotations

import pytest

from headscope.statistics import Dependencies, DependencyLengths
from headscope.text import Document
from tests.statistics.tester import columns_by_hand, null_block


def test_dependencies_by_hand() -> None:
    # b is the parent of a, c of b. b -> a: the attending is the parent, but a is null; c -> b: likewise, 0.5.
    found = columns_by_hand(Dependencies(without_first=True), null_block())
    assert found["attending_is_parent"] == pytest.approx(0.5 / 1.25)
    assert found["attended_is_parent"] == 0
    assert found["either_baseline"] == pytest.approx(1 / 3)  # of b-b, c-b, c-c
    kept = columns_by_hand(Dependencies(), null_block())
    assert kept["either"] == pytest.approx((0.5 + 0.5) / 3)
    assert kept["either_baseline"] == pytest.approx(2 / 6)


def test_a_baseline_of_pairs_of_two_tokens() -> None:
    """vig2019, figure 8, with j < i: a token and itself are no pair."""
    filtered = columns_by_hand(Dependencies(without_first=True, baseline="others"), null_block())
    assert filtered["either_baseline"] == 1  # of c-b alone
    kept = columns_by_hand(Dependencies(baseline="others"), null_block())
    assert kept["either_baseline"] == pytest.approx(2 / 3)  # b-a and c-b, of these and c-a
    assert kept["either"] == columns_by_hand(Dependencies(), null_block())["either"]


def test_dependency_lengths_by_hand() -> None:
    fresh = DependencyLengths().start([null_block().site])
    fresh.update(null_block(Document(words=["a", "b", "c"], tags=["X"] * 3, parents=[2, 2, -1])))
    table = fresh.table().set_index("distance")
    assert table["probability"].iloc[:2].tolist() == [0.5, 1.0]
    assert table["mean_length"].iloc[0] == 1.5
