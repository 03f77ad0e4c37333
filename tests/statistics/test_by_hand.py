"""Each statistic on a few numbers that a person can check."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from headscope.statistics import (
    Distance,
    Entropy,
    EntropyEnds,
    FirstToken,
    Maximum,
    Offsets,
    Punctuation,
    Separators,
    SpecialTokens,
    Strength,
)
from tests.statistics.tester import SITE, block_by_hand, columns_by_hand

WEIGHTS = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]
BLOCK = block_by_hand(WEIGHTS, ["[CLS]", "Ġ,", "."], [True, False, False])


def approx(**columns: float) -> dict[str, float]:
    return {name: pytest.approx(value) for name, value in columns.items()}


def test_entropy() -> None:
    third = 2 * 0.25 * math.log(4) + 0.5 * math.log(2)
    assert columns_by_hand(Entropy(), BLOCK) == approx(entropy=(0 + math.log(2) + third) / 3, uniform=math.log(3))


def test_entropy_of_rows_that_do_not_sum_to_one() -> None:
    halved = block_by_hand([[0.5, 0.5], [0.25, 0.25]], ["a", "b"])  # a sink took half of the second row
    assert columns_by_hand(Entropy(), halved) == approx(entropy=math.log(2), uniform=math.log(2))


def test_distance() -> None:
    # Row 1 spans 0.5 * 1; row 2 spans 0.25 * 2 + 0.25 * 1; all over a total of 3.
    assert columns_by_hand(Distance(), BLOCK) == approx(distance=(0.5 + 0.75) / 3)


def test_offsets() -> None:
    # The first token has no previous one: it counts 0 above and 1 below.
    assert columns_by_hand(Offsets(), BLOCK) == approx(previous=(0.5 + 0.25) / 3, same=2.0 / 3, next=0.0)
    assert columns_by_hand(Offsets(offsets=[-2, 5]), BLOCK) == approx(**{"offset_-2": 0.25 / 3, "offset_+5": 0.0})


def test_first_token() -> None:
    assert columns_by_hand(FirstToken(), BLOCK) == approx(first_token=1.75 / 3)


def test_special_tokens() -> None:
    assert columns_by_hand(SpecialTokens(), BLOCK) == approx(**{"[CLS]": 1.75 / 3})


def test_punctuation() -> None:
    assert columns_by_hand(Punctuation(), BLOCK) == approx(comma=0.75 / 3, period=0.5 / 3)


def test_maximum() -> None:
    assert columns_by_hand(Maximum(), BLOCK) == approx(maximum=(1 + 0.5 + 0.5) / 3)


def test_strength() -> None:
    halved = block_by_hand([[0.5, 0.5], [0.25, 0.25]], ["a", "b"])
    assert columns_by_hand(Strength(), halved) == approx(strength=0.75)


def test_uniform_entropy_of_a_decoder_is_that_of_what_a_row_can_see() -> None:
    site = replace(SITE, stack="decoder")
    block = block_by_hand([[1.0, 0.0], [0.5, 0.5]], ["a", "b"], site=site)
    assert columns_by_hand(Entropy(), block) == approx(entropy=math.log(2) / 2, uniform=math.log(2) / 2)


def test_separators() -> None:
    tokens, special = ["[CLS]", "a", "[SEP]", "b", "[SEP]"], [True, False, True, False, True]
    weights = [[1, 0, 0, 0, 0], [0, 0.5, 0.25, 0, 0.25], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0], [0.5, 0, 0, 0.25, 0.25]]
    block = block_by_hand([[float(weight) for weight in row] for row in weights], tokens, special)
    assert columns_by_hand(Separators(), block) == approx(share=1.75 / 5, from_separator=(1 + 0.25) / 2, from_others=0.5 / 3)


def test_no_separators_is_no_number() -> None:
    assert math.isnan(columns_by_hand(Separators(), BLOCK)["from_others"])


def test_entropy_of_the_ends() -> None:
    last = 2 * 0.25 * math.log(4) + 0.5 * math.log(2)
    expected = approx(first=0.0, first_uniform=math.log(3), last=last, last_uniform=math.log(3))
    assert columns_by_hand(EntropyEnds(), BLOCK) == expected
