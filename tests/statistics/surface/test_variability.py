"""How much a head's map depends on the text: by hand."""

from __future__ import annotations

import pytest

import headscope
from headscope.statistics import MeanMap, Variability
from tests.statistics.tester import SITE, block_by_hand


def test_variability_by_hand() -> None:
    first = MeanMap(positions=3).start([SITE])
    blocks = [block_by_hand([[1.0, 0.0], [share, 1 - share]], ["a", "b"]) for share in (1.0, 0.0)]
    for made in blocks:
        first.update(made)
    second = Variability.of(first).start([SITE])
    for made in blocks:
        second.update(made)
    # The mean of the second row is (0.5, 0.5): each text deviates by 0.5 + 0.5; all attention is 4.
    assert second.table()["variability"].item() == pytest.approx(2 / (2 * 4))


def test_variability_needs_its_first_pass() -> None:
    with pytest.raises(headscope.HeadscopeError, match="two passes"):
        Variability().start([SITE])
