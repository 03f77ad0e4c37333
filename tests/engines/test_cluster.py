"""What a worker gets of a cluster: no core and no GPU is given to two, and memory follows from the model's size."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from headscope.engines.cluster import ROOM, Cluster, Share, ray_module
from headscope.errors import InputError
from headscope.lens import ModelSource

SIZE = 10**9
MEMORY = 2 * SIZE + ROOM


class Resources:
    """As much of Ray as says what there is."""

    def __init__(self, *nodes: dict[str, float]) -> None:
        self.all = nodes

    def cluster_resources(self) -> dict[str, float]:
        kinds = {kind for node in self.all for kind in node}
        return {kind: sum(node.get(kind, 0) for node in self.all) for kind in kinds}

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": node} for node in self.all] + [{"Alive": False, "Resources": {"CPU": 64.0}}]


def share(*nodes: dict[str, float], device: str | None = None, **asked: int) -> Share:
    cluster = Cluster(None, asked.get("workers"), asked.get("threads"))
    cluster.join = lambda: Resources(*nodes)  # type: ignore[method-assign]
    return cluster.share(ModelSource("model", device=device), SIZE)


def test_cores_are_parted_among_workers() -> None:
    assert share({"CPU": 2.0}) == Share(1, 2, 0, MEMORY)
    assert share({"CPU": 16.0}) == Share(4, 4, 0, MEMORY)
    assert share({"CPU": 16.0}, {"CPU": 6.0}) == Share(5, 4, 0, MEMORY), "two cores of the second are too few for one"
    assert share({"CPU": 16.0}, {"CPU": 2.0}) == Share(9, 2, 0, MEMORY), "or the small one could not work"
    assert share({"CPU": 16.0}, workers=2) == Share(2, 8, 0, MEMORY)
    assert share({"CPU": 2.0}, workers=8) == Share(8, 1, 0, MEMORY)
    assert share({"CPU": 16.0}, workers=2, threads=3) == Share(2, 3, 0, MEMORY)


def test_one_worker_a_gpu() -> None:
    two, four = {"CPU": 16.0, "GPU": 2.0}, {"CPU": 32.0, "GPU": 4.0}
    assert share(two, device="cuda") == Share(2, 8, 1, MEMORY)
    assert share(two, four, device="cuda:1") == Share(6, 8, 1, MEMORY)
    assert share(two, four, device="cuda", workers=3) == Share(3, 16, 1, MEMORY)
    assert share(two) == Share(4, 4, 0, MEMORY), "a model on the CPU takes no GPU"
    with pytest.raises(InputError, match=r"No machine of the cluster has a GPU for a model on cuda"):
        share({"CPU": 8.0}, device="cuda")


def test_fewer_than_one_is_refused() -> None:
    with pytest.raises(InputError, match=r"workers is at least 1, not 0"):
        Cluster(None, 0, None)


def test_what_has_half_begun_is_ended_and_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a busy machine, where Ray's own processes are not up in its 30 seconds."""
    ray = ray_module()
    begun: list[subprocess.Popen[bytes]] = []

    def half(*_: object, **__: object) -> None:
        begun.append(subprocess.Popen(["sleep", "100"]))
        if len(begun) < 3:
            raise Exception("The current node timed out during startup.")

    monkeypatch.setattr(ray, "init", half)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    Cluster(None, 1, 1)._begin(ray, {})
    assert [process.wait(10) for process in begun[:2]] == [-9, -9]
    assert begun[2].poll() is None
    begun[2].kill()
    begun[2].wait()
