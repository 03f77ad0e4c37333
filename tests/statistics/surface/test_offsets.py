"""Which neighbour a head looks at: on three tokens by hand."""

from __future__ import annotations

from headscope.statistics import Offsets
from tests.statistics.tester import BLOCK, approx, columns_by_hand


def test_offsets() -> None:
    # The first token has no previous one: it counts 0 above and 1 below.
    assert columns_by_hand(Offsets(), BLOCK) == approx(previous=(0.5 + 0.25) / 3, same=2.0 / 3, next=0.0)
    assert columns_by_hand(Offsets(offsets=[-2, 5]), BLOCK) == approx(**{"offset_-2": 0.25 / 3, "offset_+5": 0.0})
