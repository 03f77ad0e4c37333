"""Scores: by hand, their laws, what is empty, and intervals against a plain loop over resamples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.statistics.alignment.scores import Counts, alignment_counts, bootstrap, scores
from headscope.text.links import Links

Pairs = frozenset[tuple[int, int]]
pairs = st.frozensets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8)
GOLD = Links(frozenset({(0, 0), (1, 1)}), frozenset({(1, 2), (2, 2)}))


def test_by_hand() -> None:
    counts = alignment_counts({(0, 0), (1, 2), (3, 3)}, GOLD)
    assert counts == Counts(found=3, found_in_sure=1, found_in_possible=2, sure=2)
    found = scores(counts)
    assert found.aer == pytest.approx(1 - (1 + 2) / (3 + 2))
    assert found.precision == pytest.approx(2 / 3)
    assert found.recall == pytest.approx(1 / 2)
    assert found.f1 == pytest.approx(4 / 7)


def test_sentences_are_summed_before_the_ratio() -> None:
    counts = np.array([alignment_counts({(0, 0)}, Links.of([(0, 0)])), alignment_counts({(9, 9)}, GOLD)])
    assert scores(counts.sum(0)).aer == pytest.approx(1 - 2 / 5), "and is no mean of 0 and 1"


@pytest.mark.parametrize("found", [GOLD.sure, GOLD.possible, GOLD.sure | {(1, 2)}])
def test_aer_is_0_for_all_sure_and_only_possible_links(found: Pairs) -> None:
    perfect = scores(alignment_counts(found, GOLD))
    assert (perfect.aer, perfect.precision, perfect.recall, perfect.f1) == (0, 1, 1, 1)


@pytest.mark.parametrize(
    ("found", "gold", "expected"),
    [
        ([], GOLD, (1, 1, 0, 0)),  # nothing found, though something is sure
        ([], Links(), (0, 1, 1, 1)),  # nothing to find, nothing found
        ([], Links(possible=GOLD.possible), (0, 1, 1, 1)),  # nothing that had to be found
        ([(0, 0)], Links(), (1, 0, 1, 0)),
        ([(0, 0)], Links(possible=GOLD.possible), (0, 1, 1, 1)),
        ([(3, 3)], GOLD, (1, 0, 0, 0)),
    ],
)
def test_where_something_is_empty(
    found: list[tuple[int, int]], gold: Links, expected: tuple[float, float, float, float]
) -> None:
    assert tuple(map(float, scores(alignment_counts(set(found), gold)))) == expected


@given(pairs, pairs)
def test_aer_is_1_minus_f1_where_all_is_sure(found: Pairs, sure: Pairs) -> None:
    result = scores(alignment_counts(found, Links.of(sure)))
    assert result.aer == pytest.approx(1 - result.f1)


@given(pairs, pairs, pairs)
def test_laws(found: Pairs, sure: Pairs, possible: Pairs) -> None:
    gold = Links(sure, possible)
    counts = alignment_counts(found, gold)
    assert all(0 <= value <= 1 for value in scores(counts))
    assert counts == alignment_counts(Links.of(found).flipped().sure, gold.flipped()), "the direction does not matter"
    wrong = frozenset({(7, 7)})
    assert scores(alignment_counts(found | wrong, gold)).aer >= scores(counts).aer
    missed = sure - found
    assert scores(alignment_counts(found | missed, gold)).aer <= scores(counts).aer


def random_counts(*systems: int, sentences: int) -> np.ndarray:
    generator = np.random.default_rng(1)
    found = generator.integers(3, 20, size=(*systems, sentences))
    possible = generator.binomial(found, 0.8)
    in_sure = generator.binomial(possible, 0.7)
    return np.stack([found, in_sure, possible, in_sure + 2], axis=-1)


def test_intervals_against_a_loop() -> None:
    counts = random_counts(2, 3, sentences=30)
    low, high = bootstrap(counts, seed=3, resamples=120)
    draws = np.random.default_rng(3).multinomial(30, [1 / 30] * 30, size=120)
    for index in np.ndindex(2, 3):
        aers = []
        for draw in draws:
            found, in_sure, in_possible, sure = np.repeat(counts[index], draw, axis=0).sum(0)
            aers.append(1 - (in_sure + in_possible) / (found + sure))
        np.testing.assert_allclose(low.aer[index], np.quantile(aers, 0.025), rtol=1e-12)
        np.testing.assert_allclose(high.aer[index], np.quantile(aers, 0.975), rtol=1e-12)


def test_intervals_are_as_wide_as_the_theory_says() -> None:
    """Sentences with one link each, found or not: AER is a proportion p, whose 95 % are p +- 1.96 sqrt(p (1 - p) / n)."""
    n, wrong = 400, 120
    counts = np.ones((n, 4))
    counts[:wrong, 1:3] = 0
    low, high = bootstrap(counts)
    share = wrong / n
    assert (high.aer - low.aer) / 2 == pytest.approx(1.96 * np.sqrt(share * (1 - share) / n), rel=0.1)
    assert low.aer < share < high.aer


def test_intervals_depend_on_the_seed_alone() -> None:
    counts = random_counts(4, sentences=50)
    one, again, other = (bootstrap(counts, seed=seed)[0].aer for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    np.testing.assert_allclose(bootstrap(counts[2])[0].aer, one[2], rtol=1e-12, err_msg="the other systems matter")


@pytest.mark.parametrize("sentences", [0, 1])
def test_no_interval_from_one_sentence(sentences: int) -> None:
    for end in bootstrap(np.ones((5, sentences, 4))):
        assert all(score.shape == (5,) and np.isnan(score).all() for score in end)
