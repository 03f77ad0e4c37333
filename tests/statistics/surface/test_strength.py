"""How much a head gives out: on two tokens by hand."""

from __future__ import annotations

from headscope.statistics import Strength
from tests.statistics.tester import approx, block_by_hand, columns_by_hand


def test_strength() -> None:
    halved = block_by_hand([[0.5, 0.5], [0.25, 0.25]], ["a", "b"])
    assert columns_by_hand(Strength(), halved) == approx(strength=0.75)
