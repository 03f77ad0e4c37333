"""How far a head looks: on three tokens by hand."""

from __future__ import annotations

import pytest

from headscope.statistics import Distance
from tests.statistics.tester import BLOCK, approx, columns_by_hand, null_block


def test_distance() -> None:
    # Row 1 spans 0.5 * 1; row 2 spans 0.25 * 2 + 0.25 * 1; all over a total of 3.
    assert columns_by_hand(Distance(), BLOCK) == approx(distance=(0.5 + 0.75) / 3)


def test_without_the_first_token() -> None:
    assert columns_by_hand(Distance(without_first=True), null_block())["distance"] == pytest.approx(0.5 / 1.25)
