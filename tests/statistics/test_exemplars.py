"""The texts that excite a head most: by hand."""

from __future__ import annotations

from headscope.statistics import Exemplars
from tests.statistics.tester import null_block


def test_exemplars_by_hand() -> None:
    fresh = Exemplars(without_first=True, kept=2).start([null_block().site])
    fresh.update(null_block())
    (best,) = fresh.table().to_dict("records")
    assert (best["score"], best["row"], best["key"]) == (0.5, 2, 1)  # b -> b is its own
    fresh.update(null_block())
    assert len(fresh.table()) == 1  # the same text
