"""What compiled kernels count, PyTorch's operations count on other devices: the same, for all that kernels serve."""

from __future__ import annotations

from typing import Any

import pytest

from headscope.kernels import threads
from headscope.lens.watching import plain
from headscope.statistics import STATISTICS, usual_statistics
from tests.statistics.examples import documents_for
from tests.statistics.tester import assert_same, counted


@pytest.mark.parametrize("rows", [None, 3], ids=["at once", "in blocks"])
@pytest.mark.parametrize("measure", ["weight", "norm", "joint_norm"])
@pytest.mark.parametrize("family", ["bert", "llama"])
def test_the_same_sums(family: str, measure: str, rows: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "small", lambda: 0)  # the softmax is one of them
    names = (*usual_statistics(), *(("jensen_shannon",) if rows is None else ()))
    asked: list[Any] = [STATISTICS[name](measure=measure) for name in names]
    by_kernels = [counted(one, family, documents_for(family), rows=rows) for one in asked]
    monkeypatch.setattr(threads, "HERE", frozenset())
    for one, found in zip(asked, by_kernels, strict=True):
        assert_same(counted(one, family, documents_for(family), rows=rows), found, tolerance=1e-5)
