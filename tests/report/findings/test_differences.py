"""Two runs number by number: worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from headscope.report.findings.differences import differences
from headscope.study.run import Run
from tests.report.samples import per_head


def test_differences_by_hand() -> None:
    found = differences(
        Run.of({"distance": per_head([1.0, 2.0], "distance")}), Run.of({"distance": per_head([1.0, 6.0], "distance")})
    )
    assert list(found["head"]) == [1, 0], "the largest first"
    assert list(found["difference"]) == [4.0, 0.0]
    deviation = pd.Series([1.0, 2.0, 1.0, 6.0]).std(ddof=0)
    assert found["spreads"].iloc[0] == pytest.approx(4 / deviation)


def test_only_what_both_have_is_compared() -> None:
    one = Run.of({"distance": per_head([1.0, 2.0], "distance"), "strength": per_head([1.0, 2.0], "strength")})
    found = differences(one, Run.of({"distance": per_head([1.0], "distance")}))
    assert [(row.table, row.head) for row in found.itertuples()] == [("distance", 0)]
    assert differences(one, Run.of({})).empty
