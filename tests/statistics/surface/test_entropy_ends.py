"""How broadly the ends of a text look: on three tokens by hand."""

from __future__ import annotations

import math

from headscope.statistics import EntropyEnds
from tests.statistics.tester import BLOCK, approx, columns_by_hand


def test_entropy_of_the_ends() -> None:
    last = 2 * 0.25 * math.log(4) + 0.5 * math.log(2)
    expected = approx(first=0.0, first_uniform=math.log(3), last=last, last_uniform=math.log(3))
    assert columns_by_hand(EntropyEnds(), BLOCK) == expected
