"""Kernels against the formulas in float64, and against what PyTorch's operations come to on other devices."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope import kernels
from headscope.kernels import threads
from headscope.kernels.divergences import SUMMED, sum_closely, sum_together
from headscope.kernels.elementary import exp2, log2, xlog2x
from headscope.kernels.joint_norms import sum_jointly
from headscope.kernels.pair_counts import count_pairs
from headscope.kernels.rows import FIELDS, sweep_rows
from headscope.kernels.softmax import softmax_rows
from headscope.kernels.threads import on_cpu, shared
from headscope.kernels.zeros import STEP, up_to_last
from headscope.measures.joint_norm import joint_norms

SINGLE = np.float32


def weights(generator: np.random.Generator, *shape: int, sharpness: float = 3.0) -> np.ndarray:
    """Rows that sum to 1, float32."""
    return torch.from_numpy(sharpness * generator.standard_normal(shape)).softmax(-1).float().numpy()


# log2


def test_the_logarithm_of_numbers_of_all_sizes() -> None:
    numbers = np.geomspace(1e-37, 1e37, 200_001, dtype=np.float64).astype(SINGLE)
    found = np.array([log2(number) for number in numbers[::100]])
    exact = np.log2(numbers[::100].astype(np.float64))
    np.testing.assert_allclose(found, exact, rtol=4e-7, atol=1e-7)


def test_near_one_the_logarithm_loses_nothing() -> None:
    numbers = (1 + np.linspace(-1e-3, 1e-3, 2001)).astype(SINGLE)
    found = np.array([log2(number) for number in numbers])
    np.testing.assert_allclose(found, np.log2(numbers.astype(np.float64)), rtol=5e-7)


def test_nothing_times_its_logarithm_is_nothing_and_what_is_not_a_number_stays_so() -> None:
    assert xlog2x(SINGLE(0)) == 0
    assert xlog2x(SINGLE(1)) == 0
    assert xlog2x(SINGLE(1e-40)) == pytest.approx(0, abs=1e-37)
    assert np.isnan(xlog2x(SINGLE(np.nan)))


def test_powers_of_two() -> None:
    numbers = np.linspace(-126, 127, 20_001).astype(SINGLE)
    found = np.array([exp2(number) for number in numbers])
    np.testing.assert_allclose(found, np.exp2(numbers.astype(np.float64)), rtol=2e-7)
    assert np.isnan(exp2(SINGLE(np.nan)))
    assert [exp2(SINGLE(whole)) for whole in (-126, -1, 0, 1, 127)] == [2.0**whole for whole in (-126, -1, 0, 1, 127)]


# Weights


@settings(max_examples=60, deadline=None)
@given(
    heads=st.integers(1, 3),
    rows=st.integers(1, 5),
    keys=st.integers(1, 70),
    size=st.sampled_from([0.1, 1.0, 10.0, 1000.0]),
    data=st.data(),
)
def test_weights_are_the_softmax(heads: int, rows: int, keys: int, size: float, data: st.DataObject) -> None:
    """For scores of any size, some keys unseen and some masked, in another array's rows or where they are."""
    seen, start = data.draw(st.integers(1, keys)), data.draw(st.integers(0, 2))
    masked = data.draw(st.integers(0, seen))
    generator = np.random.default_rng(data.draw(st.integers(0, 99)))
    scores = (size * generator.standard_normal((heads, rows, keys))).astype(SINGLE)
    mask = np.where(generator.random((rows, masked)) < 0.5, np.finfo(SINGLE).min, SINGLE(0))
    added = np.concatenate([np.zeros((rows, seen - masked)), mask], 1)
    expected = np.zeros((heads, rows, keys))
    expected[..., :seen] = torch.from_numpy(scores[..., :seen].astype(np.float64) * 0.3 + added).softmax(-1).numpy()
    close = {"rtol": 1e-6 + 3e-7 * size, "atol": 1e-37}
    apart, shown = scores[..., :seen].copy(), np.full((heads, rows + 3, keys), 7, SINGLE)
    softmax_rows(0, heads * rows, apart, seen, 0.3, mask, shown, start, 1)
    np.testing.assert_allclose(shown[:, start : start + rows], expected, **close)
    np.testing.assert_array_equal(apart, shown[:, start : start + rows, :seen])
    assert (np.delete(shown, np.arange(start, start + rows), 1) == 7).all()
    softmax_rows(0, heads * rows, scores, seen, 0.3, mask, scores, 0, 0)
    np.testing.assert_array_equal(scores, shown[:, start : start + rows])


@pytest.mark.parametrize("mask", [0, np.finfo(SINGLE).min, -np.inf])
def test_rows_that_see_nothing_or_what_is_no_number(mask: float) -> None:
    """They come out as PyTorch's do; the rows beside them are as they would be without them."""
    scores = np.arange(12, dtype=SINGLE).reshape(1, 3, 4) / 8
    scores[0, 1, 2] = np.nan
    added = np.zeros((3, 4), SINGLE)
    added[2] = mask
    expected = torch.from_numpy(scores + added).softmax(-1).numpy()
    softmax_rows(0, 3, scores, 4, 1.0, added, scores, 0, 0)
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


# One sweep over a map


def by_the_textbook(scores: np.ndarray, kept: np.ndarray, factor: np.ndarray, start: int) -> np.ndarray:
    """(field, map, row) in float64, from (map, row, key), (map, key), (map, key)."""
    s = scores.astype(np.float64) * factor[:, None]
    informed = s * np.log(np.where(s > 0, s, 1))
    no_sinks = kept[:, None]
    apart = np.abs(np.arange(start, start + s.shape[1])[:, None] - np.arange(s.shape[2]))
    sums = s[..., 1:].sum(-1), informed[..., 1:].sum(-1), (informed * no_sinks).sum(-1), (s * no_sinks).sum(-1)
    return np.stack([*sums, s.max(-1), (s * apart)[..., 1:].sum(-1)])


@settings(max_examples=40, deadline=None)
@given(
    texts=st.integers(1, 3),
    heads=st.integers(1, 4),
    rows=st.integers(1, 20),
    keys=st.integers(1, 150),
    start=st.integers(0, 60),
    causal=st.booleans(),
    seed=st.integers(0, 999),
)
def test_the_sweep_is_the_textbook(
    texts: int, heads: int, rows: int, keys: int, start: int, causal: bool, seed: int
) -> None:
    """Any shape, whatever part of the keys is seen, with factors and without; some keys are padding, some have norm 0."""
    generator = np.random.default_rng(seed)
    scores = weights(generator, texts * heads, rows, keys)
    if causal:
        scores *= np.arange(keys) <= np.arange(start, start + rows)[:, None]
    kept = (generator.random((texts, keys)) < 0.8).astype(SINGLE)
    norms = (4 * generator.random((texts * heads, keys)) * (generator.random((texts * heads, keys)) < 0.9)).astype(SINGLE)
    factors = np.stack([np.ones_like(norms), norms])
    logarithms = np.stack([np.full_like(norms, np.nan), norms * np.log2(np.where(norms > 0, norms, 1))])
    found = np.empty((2, len(FIELDS), *scores.shape[:2]), SINGLE)
    received = np.empty((texts * heads, keys), SINGLE)
    sweep_rows(0, texts * heads, scores, kept, factors, logarithms, start, found, received)
    for own, factor in zip(found, factors, strict=True):
        expected = by_the_textbook(scores, kept.repeat(heads, 0), factor, start)
        np.testing.assert_allclose(own, expected, rtol=3e-6, atol=3e-6)
    np.testing.assert_allclose(received, scores.astype(np.float64).sum(1), rtol=1e-6)


def test_what_is_not_a_number_shows_in_its_row_alone() -> None:
    scores = weights(np.random.default_rng(0), 1, 3, 40)
    scores[0, 1, 5] = np.nan
    one, found = np.ones((1, 1, 40), SINGLE), np.empty((1, len(FIELDS), 1, 3), SINGLE)
    sweep_rows(0, 1, scores, one[0], one, one * np.nan, 0, found, np.empty((1, 40), SINGLE))
    assert np.isnan(found[0, :, 0, 1]).all()
    assert np.isfinite(found[0, :, 0, [0, 2]]).all()


@pytest.mark.parametrize("keys", [1, STEP - 1, STEP, STEP + 1, 5 * STEP + 3])
def test_zeros_at_the_end_are_passed_over_and_nothing_else(keys: int) -> None:
    for last in range(keys):
        row = np.zeros(keys, SINGLE)
        row[last] = 1e-42
        seen = up_to_last(row)
        assert last < seen <= keys
        assert seen - last <= 2 * STEP
    assert 1 <= up_to_last(np.zeros(keys, SINGLE)) <= STEP


# Joint norms


@pytest.mark.parametrize("heads", [1, 2, 5, 6, 9, 12])
@pytest.mark.parametrize("keys", [3, 128, 300])
def test_joint_norms_are_those_of_the_summed_vectors(heads: int, keys: int) -> None:
    generator = np.random.default_rng(heads * keys)
    alpha = weights(generator, 2, heads, 7, keys)
    alpha[1] *= np.arange(keys) <= np.arange(7)[:, None]
    vectors = generator.standard_normal((2, heads, keys, 16))
    grams = np.einsum("bhkd,bgkd->hgbk", vectors, vectors).astype(SINGLE)
    found = np.empty((2, 7, keys), SINGLE)
    sum_jointly(0, 14, alpha, grams, found)
    expected = np.linalg.norm(np.einsum("bhrk,bhkd->brkd", alpha.astype(np.float64), vectors), axis=-1)
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=1e-6)


def test_other_devices_have_the_same_joint_norms(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = torch.Generator().manual_seed(0)
    alpha = torch.randn(3, 6, 10, 40, generator=generator).softmax(-1)
    vectors = torch.randn(6, 3, 40, 8, generator=generator)
    grams = torch.einsum("hbkd,gbkd->hgbk", vectors, vectors)
    made_here = sys.modules[joint_norms.__module__]
    found = joint_norms(alpha, grams)
    monkeypatch.setattr(made_here, "on_cpu", lambda *tensors: False)
    torch.testing.assert_close(joint_norms(alpha, grams), found, rtol=1e-5, atol=1e-6)


# Divergences


def test_sums_of_pairs_of_heads() -> None:
    maps = weights(np.random.default_rng(0), 7, 10, 4 * SUMMED).reshape(7, -1)
    found = np.zeros((7, 7))
    sum_together(0, 7, maps, found)
    both = maps[:, None].astype(np.float64) + maps
    np.testing.assert_allclose(np.triu(found), np.triu((both * np.log2(both)).sum(-1)), atol=3e-6)


@pytest.mark.parametrize("apart", [1.0, 1e-2, 1e-4, 0.0])
def test_close_pairs_are_close_however_near(apart: float) -> None:
    generator = np.random.default_rng(0)
    common = generator.standard_normal((1, SUMMED))
    maps = torch.from_numpy(2 * (common + apart * generator.standard_normal((2, SUMMED)))).softmax(-1).float().numpy()
    maps[0, :9] = maps[1, 4:20] = 0
    found = np.zeros(1)
    sum_closely(0, 1, np.array([0]), np.array([1]), maps, found)
    p, q = maps.astype(np.float64)
    mean = (p + q) / 2
    parts = [np.where(one > 0, one * np.log(np.where(one > 0, one, 1) / np.where(mean > 0, mean, 1)), 0) for one in (p, q)]
    assert found[0] == pytest.approx(sum(part.sum() for part in parts) / 2, rel=2e-6)


# Counts


def test_pairs_are_counted_one_by_one() -> None:
    x = weights(np.random.default_rng(0), 3, 5, 11)
    base = np.arange(33, dtype=np.int32).reshape(3, 11) % 4 * 4096
    table = np.zeros(4 * 4096, np.int32)
    count_pairs(x.view(np.int32), base, 18, 2783, 4064, table)
    expected = np.zeros_like(table)
    for one, row, key in np.ndindex(x.shape):
        expected[base[one, key] + min(max(int(x.view(np.int32)[one, row, key]) >> 18, 2783), 4064)] += 1
    np.testing.assert_array_equal(table, expected)


# Who shares the work, and where kernels are kept


WAYS = [
    pytest.param(threads.by_pool, id="threads of ours"),
    pytest.param(
        threads.by_openmp,
        id="PyTorch's threads",
        marks=pytest.mark.skipif(threads.openmp() is None, reason="PyTorch has no OpenMP of GNU's kind here"),
    ),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [2, 3, 5])
def test_threads_do_all_of_it_once(way: Callable[[threads.Part, int], None], count: int) -> None:
    done, seen = np.zeros(5, np.int64), set()

    def part(place: int, of: int) -> None:
        done[place] += 1
        seen.add(of)

    way(part, count)
    (of,) = seen
    assert done.tolist() == [1] * of + [0] * (5 - of)


@pytest.mark.parametrize("way", WAYS)
def test_a_mistake_in_a_thread_is_told(way: Callable[[threads.Part, int], None]) -> None:
    def part(place: int, of: int) -> None:
        if place:
            raise ValueError("the second half")

    with pytest.raises(ValueError, match="the second half"):
        way(part, 2)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_work_is_cut_into_entries(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads.torch, "get_num_threads", lambda: count)

    def kernel(first: int, last: int, entries: np.ndarray) -> None:
        entries[first:last] += 1

    for entries in (1, 2, 7, 1000):
        done = np.zeros(1000, np.int64)
        shared(kernel, entries, 10**7, done)
        assert done[:entries].tolist() == [1] * entries
        assert not done[entries:].any()


def test_what_a_kernel_takes() -> None:
    assert on_cpu(torch.ones(2), torch.ones(1, 1))
    assert not on_cpu(torch.ones(2), torch.ones(2, dtype=torch.float64))
    assert not on_cpu(torch.ones(0))
    assert not on_cpu(torch.ones(2, requires_grad=True))
    assert not on_cpu(torch.ones(2, device="meta"))


@pytest.mark.slow
def test_kernels_are_kept_and_compiled_again_only_for_other_sources(tmp_path: Path) -> None:
    code = """if True:
        from headscope import kernels
        from headscope.kernels.rows import sweep_rows
        kernels.load()
        print(sum(sweep_rows.stats.cache_hits.values()))"""
    for place, hits in ((str(tmp_path / "kept"), ["0", "1"]), ("", ["0", "0"]), (str(tmp_path / "a file" / "x"), ["0"])):
        (tmp_path / "a file").write_text("")
        told = [
            subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, "HEADSCOPE_CACHE": place},
                capture_output=True,
                check=True,
                text=True,
            ).stdout.strip()
            for _ in hits
        ]
        assert told == hits
    assert len(list((tmp_path / "kept" / "kernels").iterdir())) == 1


def test_all_are_loaded_and_once() -> None:
    kernels.load()
    before = sweep_rows.stats.cache_misses  # type: ignore[attr-defined]
    kernels.load()
    assert sweep_rows.stats.cache_misses == before  # type: ignore[attr-defined]
