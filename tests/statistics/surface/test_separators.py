"""Where separators look: on a few tokens by hand."""

from __future__ import annotations

import math

from headscope.statistics import Separators
from tests.statistics.tester import BLOCK, approx, block_by_hand, columns_by_hand


def test_separators() -> None:
    tokens, special = ["[CLS]", "a", "[SEP]", "b", "[SEP]"], [True, False, True, False, True]
    weights = [[1, 0, 0, 0, 0], [0, 0.5, 0.25, 0, 0.25], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0], [0.5, 0, 0, 0.25, 0.25]]
    block = block_by_hand([[float(weight) for weight in row] for row in weights], tokens, special)
    assert columns_by_hand(Separators(), block) == approx(share=1.75 / 5, from_separator=(1 + 0.25) / 2, from_others=0.5 / 3)


def test_no_separators_is_no_number() -> None:
    assert math.isnan(columns_by_hand(Separators(), BLOCK)["from_others"])
