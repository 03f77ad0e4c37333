"""The laws that every registered statistic obeys, on every example that it has: a statistic without one fails."""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headscope
from headscope import statistics
from headscope.errors import InputError
from headscope.lens.head import HEAD
from headscope.statistics import STATISTICS, Array, Column, Statistic, usual_statistics
from headscope.statistics.columns import describe
from headscope.statistics.table_names import parse
from headscope.study.state import load_state, save_state
from tests.statistics.examples import EXAMPLES, FAMILIES, documents_for
from tests.statistics.tester import assert_same, counted, encoding_of, lens_of

Case = tuple[str, int, str]  # a statistic, the place of its example, a model
CASES: list[Case] = [
    (name, place, family)
    for name, examples in EXAMPLES.items()
    for place, example in enumerate(examples)
    for family in example.families
]
ONE_MODEL = [case for case in CASES if case[2] == EXAMPLES[case[0]][case[1]].families[0]]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
every_example = pytest.mark.parametrize("case", ONE_MODEL, ids=lambda case: "-".join(map(str, case)))
UNSAID = ("f1", "_half_0", "_half_1")  # columns that stand beside what a card says


def test_every_statistic_has_an_example() -> None:
    assert set(EXAMPLES) == set(STATISTICS), "a new statistic needs a row in tests/statistics/examples.py"


def made(case: Case) -> Statistic:
    name, place, family = case
    return EXAMPLES[name][place].make(family)


@cache
def alone(case: Case, document: int | None = None) -> dict[str, Array]:
    """The sums over all documents, or one of them, read one by one."""
    chosen = documents_for(case[2])
    return counted(made(case), case[2], chosen if document is None else [chosen[document]], batch_size=1).state


def started(case: Case) -> Statistic:
    statistic = made(case)
    return statistic.start(lens_of(statistic, case[2]).sites)


def with_state(case: Case, state: dict[str, Array]) -> Statistic:
    fresh = started(case)
    fresh.state = copy.deepcopy(state)
    return fresh


def assert_equal(case: Case, one: Statistic, other: Statistic) -> None:
    """The same sums but for rounding; where that may move ranks, the same counts and nearly the same table."""
    if not EXAMPLES[case[0]][case[1]].ranks:
        assert_same(one, other)
        return
    # A decoder starts all its texts with one token, whose norm is one number in the first layer, but for rounding.
    pd.testing.assert_frame_equal(one.table(), other.table(), rtol=1e-3, atol=2e-2)


@every_example
@settings(max_examples=6)
@given(order=st.permutations(range(len(documents_for("bert")))), cut=st.integers(1, 4))
def test_merging_in_any_order_and_grouping(case: Case, order: Sequence[int], cut: int) -> None:
    left, right = (_merged(case, some) for some in (order[:cut], order[cut:]))
    left.merge(right)
    assert_equal(case, left, with_state(case, alone(case)))


def _merged(case: Case, chosen: Sequence[int]) -> Statistic:
    merged = started(case)
    for document in chosen:
        merged.merge(with_state(case, alone(case, document)))
    return merged


@every_case
@settings(max_examples=4)
@given(batch_size=st.integers(1, 5), rows=st.one_of(st.none(), st.integers(1, 9)), seed=st.integers(0, 99))
def test_batches_padding_and_row_blocks_do_not_matter(case: Case, batch_size: int, rows: int | None, seed: int) -> None:
    shuffled = random.Random(seed).sample(documents_for(case[2]), len(documents_for(case[2])))
    assert_equal(case, counted(made(case), case[2], shuffled, batch_size, rows), with_state(case, alone(case)))


@pytest.mark.parametrize("family", FAMILIES)
def test_shards_do_not_matter(family: str, tmp_path: Path) -> None:
    """All that a model has, in as many studies as it takes for their tables to have different names."""
    here = [case for case in CASES if case[2] == family and not made(case).gradients]
    rounds: dict[tuple[int, str], list[Case]] = {}
    for case in here:
        same_name = [other for other in here[: here.index(case)] if made(other).table_name == made(case).table_name]
        rounds.setdefault((len(same_name), str(encoding_of(made(case)))), []).append(case)
    for number, cases in enumerate(rounds.values()):
        chosen = [made(case) for case in cases]
        whole, cut = (
            headscope.study(
                lens_of(chosen[0], family),
                documents_for(family),
                chosen,
                out=tmp_path / f"{number}-{size}",
                shard_size=size,
                batch_size=1,
                encoding=encoding_of(chosen[0]),
            )
            for size in (5, 2)
        )
        for statistic in chosen:
            one, other = (run[statistic.table_name] for run in (whole, cut))
            pd.testing.assert_frame_equal(one, other, rtol=1e-9, atol=1e-12)


@every_example
def test_the_state_survives_saving(case: Case, tmp_path: Path) -> None:
    counts = with_state(case, alone(case))
    save_state(tmp_path / "state", {counts.table_name: counts.state}, [], {})
    loaded = load_state(tmp_path / "state")
    assert loaded is not None
    again = with_state(case, loaded[0][counts.table_name])
    merged = started(case)
    merged.merge(again)
    pd.testing.assert_frame_equal(counts.table(), merged.table(), check_exact=True)


@every_example
def test_the_settings_make_it_again_and_the_name_says_some_of_them(case: Case) -> None:
    statistic = made(case)
    assert type(statistic)(**statistic.settings()) == statistic
    name = parse(statistic.table_name)
    assert name is not None
    assert (name.statistic, name.rest) == (statistic.name, "")
    assert name.settings.items() <= statistic.settings().items()
    unsaid = {key: value for key, value in statistic.settings().items() if key in ("path", "sha256")}
    assert type(statistic)(**unsaid, **name.settings).table_name == statistic.table_name


@every_example
def test_columns_are_what_is_said_of_them(case: Case) -> None:
    counts = with_state(case, alone(case))
    table, on_cards = counts.table(), counts.card_place < float("inf")
    said = {name for name, column in vars(type(counts)).items() if isinstance(column, Column)}
    assert said <= set(table) or case[0] == "offsets", "what is explained is there"
    for column in counts.columns(counts.state) if on_cards else ():
        assert column.endswith(UNSAID) or describe(counts.table_name, column) is not None, column


@every_example
def test_sums_are_float64(case: Case) -> None:
    if type(made(case)).absorb is Statistic.absorb:
        assert {array.dtype for array in alone(case).values()} == {np.dtype("float64")}


@every_example
def test_others_are_not_merged(case: Case) -> None:
    here = with_state(case, alone(case))
    for other in EXAMPLES[case[0]]:
        if case[2] in other.families and other.make(case[2]) != here:
            with pytest.raises(InputError, match="cannot be merged"):
                here.merge(other.make(case[2]))


@pytest.mark.parametrize("name", usual_statistics())
@pytest.mark.parametrize(("measure", "heads"), [("weight", 4), ("joint_norm", 1)])
def test_a_usual_table_has_one_row_a_head_and_finite_numbers(name: str, measure: str, heads: int) -> None:
    table = counted(STATISTICS[name](measure=measure), "marian", documents_for("marian")).table()
    assert list(table.columns[:4]) == HEAD
    assert len(table) == 6 * heads
    assert np.isfinite(table.iloc[:, 4:].to_numpy(dtype=float)).all()


def test_every_statistic_says_what_it_is() -> None:
    for cls in STATISTICS.values():
        assert cls.about.endswith((".", ")"))
        assert len(cls.about) < 120


def test_a_file_of_the_package_is_known_without_being_named() -> None:
    names = {module.name for module in walk_packages(statistics.__path__, "headscope.statistics.")}
    assert names <= set(sys.modules)
    assert all(getattr(statistics, cls.__name__) is cls for cls in STATISTICS.values())
