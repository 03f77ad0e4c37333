"""What statistics add comes over together, and is summed in the order in which it came."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headscope.kernels import threads
from headscope.statistics import pending
from headscope.statistics.base import settle_all
from headscope.statistics.pending import Pending, settle
from headscope.statistics.surface.strength import Strength
from tests.statistics.tester import SITE


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No number is here already: as on a device that has to be waited for."""
    monkeypatch.setattr(threads, "HERE", frozenset())


def test_what_is_here_is_added_at_once_unless_something_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Pending({})
    one.add("total", 1, slice(0, 1), torch.tensor([2.0]))
    one.add("total", 1, slice(0, 1), 1.0)
    assert not one.waiting
    assert one.sums["total"].tolist() == [3.0]
    with monkeypatch.context() as patch:
        patch.setattr(threads, "HERE", frozenset())
        one.add("total", 1, slice(0, 1), torch.tensor([1e17], dtype=torch.float64))
    one.add("total", 1, slice(0, 1), torch.tensor([1.0]))
    one.add("total", 1, slice(0, 1), 1.0)
    assert len(one.waiting) == 3, "amounts are added in the order in which they came"
    settle([one])
    assert one.sums["total"].tolist() == [3.0 + 1e17 + 1.0 + 1.0]


@pytest.mark.parametrize("device", ["here", "elsewhere"])
def test_sums_in_float64_and_in_order(device: str, request: pytest.FixtureRequest) -> None:
    """A float32 sum would have lost the ones."""
    if device == "elsewhere":
        request.getfixturevalue("elsewhere")
    one = Pending({})
    for amount in (1e9, 1.0, 1.0):
        one.add("total", 2, slice(1, 2), torch.tensor([amount]))
    one.add("total", 2, slice(0, 2), 0.5)
    one.add("bins", 2, slice(0, 1), torch.ones(1, 3, dtype=torch.int64))
    settle([one, one])
    assert one.sums["total"].tolist() == [0.5, 1e9 + 2.5]
    assert one.sums["bins"].tolist() == [[1, 1, 1], [0, 0, 0]]


@pytest.mark.usefixtures("elsewhere")
def test_whole_numbers_are_not_rounded_by_what_they_come_with() -> None:
    one, large = Pending({}), 2**40 + 1
    one.add("pairs", 1, slice(0, 1), torch.tensor(large))
    one.add("share", 1, slice(0, 1), torch.tensor([0.25]))
    settle([one])
    assert one.sums["pairs"].tolist() == [large]


@pytest.mark.usefixtures("elsewhere")
def test_one_copy_for_each_type_whatever_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    copies = []
    copy = torch.Tensor.cpu
    monkeypatch.setattr(torch.Tensor, "cpu", lambda tensor: copies.append(tensor.numel()) or copy(tensor))
    several = [Strength().start([SITE]) for _ in range(3)]
    for statistic in several:
        for number in range(5):
            statistic.add(SITE, total=torch.tensor([float(number)]), rows=torch.tensor(2))
    assert not copies
    settle_all(several)
    assert sorted(copies) == [15, 15]
    assert [statistic.state["total"].tolist() for statistic in several] == [[10.0]] * 3
    assert len(copies) == 2, "sums that are settled are there"


@pytest.mark.usefixtures("elsewhere")
def test_a_statistic_of_a_very_long_shard_does_not_hold_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "MOST", 4)
    one = Pending({})
    for _ in range(10):
        one.add("total", 1, slice(0, 1), torch.ones(1))
    assert len(one.waiting) == 2
    settle([one])
    np.testing.assert_array_equal(one.sums["total"], [10.0])
