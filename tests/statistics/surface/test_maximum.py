"""How much a head commits to one token: on three tokens by hand."""

from __future__ import annotations

from headscope.statistics import Maximum
from tests.statistics.tester import BLOCK, approx, columns_by_hand


def test_maximum() -> None:
    assert columns_by_hand(Maximum(), BLOCK) == approx(maximum=(1 + 0.5 + 0.5) / 3)
