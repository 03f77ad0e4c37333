"""A worker: a process, perhaps on another machine, that opens a model once from its recipe and is handed shards."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, replace
from typing import Any

from headscope.errors import HeadscopeError, ModelError
from headscope.later import torch
from headscope.lens.lens import Lens
from headscope.lens.source import ModelSource
from headscope.study.engine import Answer, Job
from headscope.study.manifest import MadeWith
from headscope.study.shards import Shard


@dataclass(frozen=True)
class Ready:
    """Where a worker is, once its model is open."""

    host: str
    pid: int
    log: str


@dataclass(frozen=True)
class Failed:
    """An error that the user can act on, as a value: another try would come to the same."""

    error: HeadscopeError


class Worker:
    """What runs there. It is handed everything: it knows neither the run directory nor the other shards."""

    def __init__(self, threads: int) -> None:
        torch.set_num_threads(threads)
        self.source: ModelSource | None = None
        self.lens: Lens | None = None

    def open(self, source: ModelSource, made_with: MadeWith, folder: str) -> Ready | Failed:
        """Open the model, unless it is open; refuse, where it or the software is not what the run was begun with.

        `folder` is where the command was given: paths lead from there, where there is such a folder here.
        """
        try:
            if os.path.isdir(folder):
                os.chdir(folder)
            if self.source != source:
                if self.lens is not None:
                    self.lens.close()
                self.source, self.lens = None, here(source).open()
                self.source = source
            assert self.lens is not None
            check_same(made_with, MadeWith.of(self.lens))
        except HeadscopeError as error:
            return Failed(error)
        return Ready(socket.gethostname(), os.getpid(), _log())

    def count(self, job: Job[Answer], shard: Shard) -> Answer | Failed:
        assert self.lens is not None
        try:
            return job.count(self.lens, shard)
        except HeadscopeError as error:
            return Failed(error)


def here(source: ModelSource) -> ModelSource:
    """The recipe for a worker that sees its own GPU alone: that is the first of those it sees."""
    kind, _, number = (source.device or "").partition(":")
    return replace(source, device=kind) if number else source


def check_same(expected: MadeWith, found: MadeWith) -> None:
    """An error where a worker's model or software is not what the run was begun with."""
    if changes := expected.differences(found):
        raise ModelError(
            f"The worker on {socket.gethostname()} has another model or other software than this run was begun with, "
            f"so it is not used: {'; '.join(changes[:3])}; install the same there."
        )


def _log() -> str:
    """The file that this process writes its errors to, where that can be told."""
    path: Any = os.path.realpath("/proc/self/fd/2")
    return path if os.path.isfile(path) else ""
