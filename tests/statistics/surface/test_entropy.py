"""How broadly a head looks: on three tokens by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from headscope.statistics import Entropy
from tests.statistics.tester import BLOCK, SITE, approx, block_by_hand, columns_by_hand, null_block


def test_entropy() -> None:
    third = 2 * 0.25 * math.log(4) + 0.5 * math.log(2)
    assert columns_by_hand(Entropy(), BLOCK) == approx(entropy=(0 + math.log(2) + third) / 3, uniform=math.log(3))


def test_entropy_of_rows_that_do_not_sum_to_one() -> None:
    halved = block_by_hand([[0.5, 0.5], [0.25, 0.25]], ["a", "b"])  # a sink took half of the second row
    assert columns_by_hand(Entropy(), halved) == approx(entropy=math.log(2), uniform=math.log(2))


def test_uniform_entropy_of_a_decoder_is_that_of_what_a_row_can_see() -> None:
    site = replace(SITE, stack="decoder")
    block = block_by_hand([[1.0, 0.0], [0.5, 0.5]], ["a", "b"], site=site)
    assert columns_by_hand(Entropy(), block) == approx(entropy=math.log(2) / 2, uniform=math.log(2) / 2)


def test_without_the_first_token() -> None:
    third = -(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3)  # the row renormalised
    # The first row gives all to the first token and does not count.
    assert columns_by_hand(Entropy(without_first=True), null_block())["entropy"] == pytest.approx((0 + third) / 2)


def test_over_90_percent_to_the_first_token_does_not_count() -> None:
    rows = [[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.92, 0.04, 0.04]]
    made = block_by_hand(rows, ["a", "b", "c"], site=replace(SITE, stack="decoder"))
    assert columns_by_hand(Entropy(without_first=True), made)["entropy"] == pytest.approx(0.0, abs=1e-6)
