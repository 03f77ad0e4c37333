"""The sketch for Spearman's rho: scipy's value where it is exact, its bound where it is not, and any order of merging."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from headscope.errors import InputError
from headscope.statistics.kit import rank_sketch
from headscope.statistics.kit.pair_counts import PairCounts
from headscope.statistics.kit.rank_sketch import LIMIT, X_BITS, RankSketch, bins, cells_of

floats = st.floats(0, 2.0**100, width=32)
few_bins = st.floats(0.5, 0.5625, width=32)  # four bins of x, so that ranks within a bin matter


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(rank_sketch, "LIMIT", 12)
    return 12


def sketch_of(x: np.ndarray, y: np.ndarray) -> RankSketch:
    sketch = RankSketch()
    sketch.add(x, y)
    return sketch


def test_by_hand() -> None:
    sketch = sketch_of(np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 5.0, 2.0, 9.0]))
    assert sketch.spearman() == (pytest.approx(0.8), 0.0)  # 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15)
    assert sketch.count == 4


def test_one_value_has_no_rank() -> None:
    assert np.isnan(sketch_of(np.array([0.5, 0.5]), np.array([1.0, 2.0])).spearman()).all()
    assert np.isnan(RankSketch().spearman()).all()
    many = np.full(LIMIT + 1, 0.5)
    assert np.isnan(sketch_of(many, many).spearman()).all()


@given(
    arrays(np.float32, st.tuples(st.integers(3, 40), st.just(2)), elements=st.one_of(floats, st.sampled_from([0.0, 1.0])))
)
def test_few_pairs_are_exact(pairs: np.ndarray) -> None:
    if len(np.unique(pairs[:, 0])) > 1 and len(np.unique(pairs[:, 1])) > 1:
        rho, bound = sketch_of(pairs[:, 0], pairs[:, 1]).spearman()
        assert rho == pytest.approx(spearmanr(*pairs.T.astype(np.float64)).statistic, abs=1e-9)
        assert bound == 0


@given(arrays(np.float32, st.integers(2, 50), elements=floats), st.integers(4, 8))
def test_bins_grow_with_the_value_and_are_narrow(values: np.ndarray, bits: int) -> None:
    values = np.sort(values)
    found = bins(values, bits)
    assert (np.diff(found) >= 0).all()
    together = (np.diff(found) == 0) & (values[:-1] > 2.0**-40)
    assert (values[1:][together] < values[:-1][together] * (1 + 2.0**-bits)).all()


@given(st.integers(13, 60).flatmap(lambda n: arrays(np.float32, (n, 2), elements=st.one_of(few_bins, floats))))
def test_the_bound_holds(pairs: np.ndarray) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_sketch, "LIMIT", 12)
        rho, bound = sketch_of(pairs[:, 0], pairs[:, 1]).spearman()
    if np.isfinite(rho):
        assert abs(rho - spearmanr(*pairs.T.astype(np.float64)).statistic) <= bound + 1e-9


def test_one_bin_on_a_side_has_no_correlation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_sketch, "LIMIT", 12)
    x = np.array([0.5, 1.0] + [0.5625] * 12, dtype=np.float32)
    rho, bound = sketch_of(x, np.full(14, 0.5625, np.float32)).spearman()
    assert np.isnan(rho)
    assert np.isnan(bound)


@pytest.mark.parametrize("bin_count", [4, 16, 64])
def test_the_bound_is_no_larger_than_it_must_be(bin_count: int) -> None:
    """Ranks within each bin of x as unlucky as they can be: they follow y. The bound is at most three times the error."""
    rng = np.random.default_rng(0)
    n = 40_000
    y = np.exp2(rng.uniform(0, 8, n)).astype(np.float32)
    place = rng.integers(bin_count, size=n)
    octave, within = np.divmod(place, 2**X_BITS)
    x = (np.exp2(octave) * (1 + (within + np.log2(y) / 8.001) / 2**X_BITS)).astype(np.float32)
    assert len(np.unique(bins(x, X_BITS))) == bin_count
    rho, bound = sketch_of(x, y).spearman()
    error = abs(rho - spearmanr(x, y).statistic)
    assert error > 0.7 / bin_count
    assert error <= bound < 3 * error


@pytest.mark.parametrize("relation", [lambda x, noise: x**2 * noise, lambda x, noise: noise / x, lambda x, noise: noise])
def test_many_pairs(relation: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    rng = np.random.default_rng(1)
    x = rng.lognormal(-4, 1.5, 200_000).astype(np.float32)
    y = relation(x, rng.lognormal(0, 1, len(x))).astype(np.float32)
    rho, bound = sketch_of(x, y).spearman()
    assert abs(rho - spearmanr(x, y).statistic) < 2e-4 < bound < 0.02


@given(st.data())
def test_merging_in_any_order_gives_the_same_bytes(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(0, 9), min_size=2, max_size=6))  # the whole is below the limit, or beyond
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    parts = [rng.lognormal(0, 2, (size, 2)).astype(np.float32).round(1) for size in sizes]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_sketch, "LIMIT", 12)
        joined = np.concatenate(parts)
        whole = sketch_of(joined[:, 0], joined[:, 1])
        sketches = [sketch_of(part[:, 0], part[:, 1]) for part in parts]
        while len(sketches) > 1:  # any two of them, until one is left
            other = sketches.pop(data.draw(st.integers(0, len(sketches) - 1)))
            place = data.draw(st.integers(0, len(sketches) - 1))
            if data.draw(st.booleans()):
                other = RankSketch.from_state(other.state())
            sketches[place].merge(other)
        (merged,) = sketches
        assert merged.count == whole.count == len(joined)
        np.testing.assert_equal(merged.state(), whole.state())
        np.testing.assert_equal(merged.spearman(), whole.spearman())


def test_what_waits_is_counted(small_limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_sketch, "WAITING", 30)
    rng = np.random.default_rng(2)
    x, y = rng.uniform(size=(2, 100)).astype(np.float32)
    sketch = RankSketch()
    for start in range(0, 100, 7):
        sketch.add(x[start : start + 7], y[start : start + 7])
    cells, counts = np.unique(cells_of(x, y), return_counts=True)
    state = sketch.state()
    assert (state["cells"].tolist(), state["counts"].tolist()) == (cells.tolist(), counts.tolist())
    assert sketch.count == 100


def test_counts_beyond_32_bits_are_kept() -> None:
    sketch = RankSketch()
    for _ in range(3):
        sketch.add_cells(cells_of(np.float32([0.1, 0.2]), np.float32([1, 2])), np.array([2**31, 5]))
    again = RankSketch.from_state(sketch.state())
    assert again.count == sketch.count == 3 * (2**31 + 5)
    assert again.state()["counts"].tolist() == [3 * 2**31, 15]


def test_what_cannot_be_ranked_is_said() -> None:
    for wrong in (-0.5, np.nan):
        with pytest.raises(InputError, match="not negative"):
            sketch_of(np.array([0.5, wrong]), np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="add them"):
        RankSketch().add_cells(np.array([1]), np.array([1]))


# The fast way: pairs that share a y


@given(st.integers(0, 999))
def test_counted_pairs_are_in_the_cells_that_the_sketch_puts_them_in(seed: int) -> None:
    rng = np.random.default_rng(seed)
    texts, heads, rows, keys, categories = rng.integers(1, 5, 5)
    counts = PairCounts(int(categories))
    expected: dict[tuple[int, int], int] = {}
    for _ in range(3):
        x = np.minimum(rng.lognormal(-3, 8, (texts, heads, rows, keys)), 1).astype(np.float32)
        y = rng.lognormal(0, 2, (texts, heads, keys)).astype(np.float32)
        category = rng.integers(-1, categories, (texts, keys))
        hidden = rng.integers(0, rows + 1, (texts, keys))
        for t, j in np.ndindex(texts, keys):
            x[t, :, : hidden[t, j], j] = 0
            for h, i in np.ndindex(heads, rows):
                if category[t, j] >= 0 and i >= hidden[t, j]:
                    place = int(category[t, j]), int(cells_of(x[t, h, i, j], y[t, h, j]).item())
                    expected[place] = expected.get(place, 0) + 1
        counts.add(*(torch.from_numpy(part) for part in (x, y, category, hidden)))
    drained = {
        (category, int(cell)): int(count)
        for category, cells, amounts in counts.drain()
        for cell, count in zip(cells, amounts, strict=True)
    }
    assert drained == expected
    assert list(counts.drain()) == []
