"""Memory is used again when nobody holds a tensor of it any more, and never before."""

from __future__ import annotations

import threading

import pytest
import torch

from headscope.lens.watching import workspace

LIKE = torch.zeros(1)


@pytest.fixture(autouse=True)
def _anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_here", threading.local())


def test_what_was_let_go_is_used_again() -> None:
    first = workspace.empty(LIKE, 3, 50)
    place = first.data_ptr()
    del first
    again = workspace.empty(LIKE, 2, 60)
    assert (again.data_ptr(), again.shape) == (place, (2, 60))


@pytest.mark.parametrize("view", [lambda one: one, lambda one: one[1:, :3], lambda one: one.numpy()])
def test_what_somebody_holds_is_not(view) -> None:
    first = workspace.empty(LIKE, 3, 50).fill_(7)
    held = view(first)
    del first
    for _ in range(5):
        workspace.empty(LIKE, 3, 50).fill_(1)
    assert (held == 7).all()


def test_a_thread_has_its_own() -> None:
    first = workspace.empty(LIKE, 4)
    place = first.data_ptr()
    del first
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(workspace.empty(LIKE, 4).data_ptr()))
    thread.start()
    thread.join()
    assert found != [place]


def test_little_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    held = [workspace.empty(LIKE, 10) for _ in range(2 * workspace.KEPT)]
    assert len(workspace._here.kept) == workspace.KEPT
    assert len({one.data_ptr() for one in held}) == len(held)
    monkeypatch.setattr(workspace, "LARGEST", 9)
    large = workspace.empty(LIKE, 10)
    assert all(large.data_ptr() != one.ctypes.data for one in workspace._here.kept)


@pytest.mark.parametrize("count", [1, 15, 17, 1000])
def test_it_begins_where_pytorchs_own_memory_does(count: int) -> None:
    assert workspace.empty(LIKE, count).data_ptr() % 64 == 0


def test_other_kinds_are_as_ever() -> None:
    assert workspace.empty(LIKE.double(), 2, 3).dtype == torch.float64
    assert workspace.empty(LIKE.to("meta"), 2, 3).device.type == "meta"
    assert workspace.empty(LIKE, 0, 3).shape == (0, 3)
