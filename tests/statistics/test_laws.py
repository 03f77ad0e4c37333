"""Every registered statistic obeys the same laws, for two measures and both levels."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.statistics import STATISTICS, usual_statistics
from headscope.statistics.base import Statistic
from tests.statistics.tester import TEXTS, assert_same, counted, documents

CASES = [
    (name, measure, level)
    for name in (*usual_statistics(), "separators", "entropy_ends")
    for measure, level in (("weight", "token"), ("norm", "word"), ("joint_norm", "token"))
]
every_statistic = pytest.mark.parametrize(("name", "measure", "level"), CASES)


def made(name: str, measure: str, level: str) -> Statistic:
    return STATISTICS[name](measure=measure, level=level)


@every_statistic
@settings(max_examples=10)
@given(order=st.permutations(range(len(TEXTS))), grouping=st.integers(0, 3))
def test_merging_in_any_order_and_grouping(name: str, measure: str, level: str, order: list[int], grouping: int) -> None:
    statistic = made(name, measure, level)
    parts = [counted(statistic, "bert", [document]) for document in documents("bert")]
    whole = counted(statistic, "bert", documents("bert"))
    parts = [parts[index] for index in order]
    left = parts[0]
    for part in parts[1 : 1 + grouping]:
        left.merge(part)
    right = parts[1 + grouping] if 1 + grouping < len(parts) else None
    for part in parts[2 + grouping :]:
        right.merge(part)
    if right is not None:
        left.merge(right)
    assert_same(left, whole)


@every_statistic
@pytest.mark.parametrize("family", ["bert", "llama", "marian"])
@settings(max_examples=6)
@given(batch_size=st.integers(1, 5), rows=st.one_of(st.none(), st.integers(1, 9)), seed=st.integers(0, 99))
def test_batches_padding_and_row_blocks_do_not_matter(
    name: str, measure: str, level: str, family: str, batch_size: int, rows: int | None, seed: int
) -> None:
    statistic = made(name, measure, level)
    shuffled = documents(family)
    random.Random(seed).shuffle(shuffled)
    alone = counted(statistic, family, documents(family), batch_size=1)
    assert_same(counted(statistic, family, shuffled, batch_size, rows), alone)


@every_statistic
def test_table_has_one_row_a_head_and_finite_numbers(name: str, measure: str, level: str) -> None:
    table = counted(made(name, measure, level), "marian", documents("marian")).table()
    assert list(table.columns[:4]) == ["stack", "kind", "layer", "head"]
    assert len(table) == 6 * (1 if measure == "joint_norm" else 4)
    if name != "separators":  # a decoder's input has none
        assert np.isfinite(table.iloc[:, 4:].to_numpy(dtype=float)).all()


@every_statistic
def test_sums_are_float64(name: str, measure: str, level: str) -> None:
    fresh = counted(made(name, measure, level), "bert", documents("bert")[:1])
    assert {array.dtype for array in fresh.state.values()} == {np.dtype("float64")}


def test_different_settings_are_not_merged() -> None:
    one = counted(made("entropy", "weight", "token"), "bert", documents("bert")[:1])
    other = counted(made("entropy", "norm", "token"), "bert", documents("bert")[:1])
    with pytest.raises(Exception, match="cannot be merged"):
        one.merge(other)


def test_every_statistic_says_what_it_is() -> None:
    for cls in STATISTICS.values():
        assert cls.about.endswith((".", ")"))
        assert len(cls.about) < 120
