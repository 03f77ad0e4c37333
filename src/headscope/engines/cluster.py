"""The cluster that workers are asked of, begun here or there already: what it has, and what a worker gets of it."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headscope.engines.worker import Worker
from headscope.errors import InputError, MissingExtra
from headscope.lens.source import ModelSource

THREADS = 4  # of a worker, where there are enough cores: more make a batch little faster
BEGINNINGS = 3  # tries
ROOM = 2**30  # bytes beside the model: libraries, a batch's blocks, sums


@dataclass(frozen=True)
class Share:
    """What each of some workers gets."""

    workers: int
    threads: int
    gpus: int
    memory: int  # bytes


class Cluster:
    """Ray, when it is needed; it ends with us where it has begun with us."""

    def __init__(
        self, address: str | None, workers: int | None, threads: int | None, settings: Mapping[str, Any] | None = None
    ) -> None:
        """`settings` are for ray.init, where it begins here."""
        for name, number in (("workers", workers), ("threads", threads)):
            if number is not None and number < 1:
                raise InputError(f"{name} is at least 1, not {number}.")
        check_installed()
        self.address, self.workers, self.threads, self.settings = address, workers, threads, settings or {}
        self._began = False

    def join(self) -> Any:
        """Ray's module, connected."""
        # Ray would count its users over the network, unless told otherwise.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray = ray_module()
        if ray.is_initialized():
            return ray
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        address = self.address or os.environ.get("RAY_ADDRESS") or "local"
        if address == "local":
            self._begin(ray, {"include_dashboard": False, "num_cpus": os.cpu_count(), **quiet, **self.settings})
        else:
            try:
                ray.init(address, **quiet)
            except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
                reason = " ".join(str(error).split())
                raise InputError(
                    f"No Ray cluster answers at {address} ({reason[:200]}): check --address, or begin one with "
                    "ray start --head."
                ) from error
        self._began = True
        return ray

    def _begin(self, ray: Any, settings: Mapping[str, Any]) -> None:
        """Ray gives its own processes 30 seconds to come up, which a busy machine may not have."""
        own = importlib.import_module("psutil").Process()  # which Ray brings
        for left in reversed(range(BEGINNINGS)):
            before = own.children()
            try:
                ray.init("local", **settings)
                return
            except Exception as error:  # that is what Ray raises
                ray.shutdown()
                for process in own.children():
                    if process not in before:
                        process.kill()  # half a cluster, which Ray has lost sight of
                if not left:
                    reason = " ".join(str(error).split())
                    raise InputError(f"Ray cannot begin on this machine ({reason[:200]}): try again.") from error

    def leave(self) -> None:
        if self._began:
            ray_module().shutdown()
            self._began = False

    def share(self, source: ModelSource, size: int) -> Share:
        """What a worker gets for a model of `size` bytes: no core, and no GPU, is given to two of them."""
        has = self.join().cluster_resources()
        nodes = [node["Resources"] for node in self.join().nodes() if node["Alive"]]
        on_gpu = (source.device or "cpu").partition(":")[0] not in ("cpu", "meta")
        cpus, gpus = int(has.get("CPU", 1)), int(has.get("GPU", 0))
        fewest = min((int(node["CPU"]) for node in nodes if node.get("CPU")), default=1)
        if on_gpu and not gpus:
            raise InputError(f"No machine of the cluster has a GPU for a model on {source.device}: leave --device out.")
        if self.workers is not None:
            threads = self.threads or max(1, min(fewest, cpus // self.workers))
        else:
            threads = self.threads or max(1, min(fewest, cpus // gpus if on_gpu else THREADS))
        workers = self.workers or (gpus if on_gpu else max(1, sum(int(node.get("CPU", 0)) // threads for node in nodes)))
        return Share(workers, threads, int(on_gpu), 2 * size + ROOM)  # while it is loaded, a model may be there twice

    def hire(self, share: Share) -> Any:
        """One more worker: it comes when there is room for it."""
        options: dict[str, Any] = {"num_cpus": share.threads, "memory": share.memory, "max_restarts": 0}
        if share.gpus:
            options["num_gpus"] = share.gpus
        return self.join().remote(Worker).options(**options).remote(share.threads)

    def let_go(self, worker: Any) -> None:
        self.join().kill(worker)

    def says(self) -> str:
        """What the cluster has that is free, in words."""
        free = self.join().available_resources()
        return f"{free.get('CPU', 0):g} CPUs, {free.get('GPU', 0):g} GPUs and {free.get('memory', 0) / 2**30:.1f} GB"


def check_installed() -> None:
    """Said at once, not when the first shard is to be counted; Ray itself takes its time to be imported."""
    try:
        found = importlib.util.find_spec("ray")
    except ValueError:
        found = None
    if found is None:
        raise MissingExtra("The engine ray", "ray")


def ray_module() -> Any:
    return importlib.import_module("ray")
