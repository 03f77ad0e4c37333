"""A thousand workers that are not there: real Ray, real states, real files; only nobody runs a model.

A few actors of Ray's answer for all of them, each after the time that a worker would count, with the state of a real shard.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import Any

from headscope.engines.cluster import Cluster, Share
from headscope.engines.worker import Ready
from headscope.lens.source import ModelSource
from headscope.study.work import ShardCounts

ACTORS = 2


class Answering:
    """Stands for many workers at once."""

    def __init__(self, state: ShardCounts, seconds: float, group_size: int) -> None:
        self.state, self.seconds, self.group_size = state, seconds, group_size

    async def open(self, *_: Any) -> Ready:
        return Ready("nowhere", 0, "")

    async def count(self, job: Any, shard: Any) -> ShardCounts:
        await asyncio.sleep(random.uniform(0.5, 1.5) * self.seconds)
        return replace(
            self.state, index=shard.index, groups=[shard.start // self.group_size], documents=len(shard.documents)
        )


class Handle:
    """What the crew holds of a worker; the actor behind it is others' too."""

    def __init__(self, actor: Any) -> None:
        self.open, self.count = actor.open, actor.count


class Simulated(Cluster):
    """A cluster of as many workers as one likes."""

    def __init__(self, workers: int, state: ShardCounts, seconds: float, group_size: int, **init: Any) -> None:
        super().__init__(None, workers, 1, init)
        self.answer = (state, seconds, group_size)
        self.actors: list[Any] = []

    def share(self, source: ModelSource, size: int) -> Share:
        assert self.workers is not None
        return Share(self.workers, 1, 0, 0)

    def hire(self, share: Share) -> Handle:
        ray = self.join()
        if len(self.actors) < ACTORS:
            made = ray.remote(Answering).options(num_cpus=0, max_concurrency=4 * share.workers).remote(*self.answer)
            self.actors.append(made)
        return Handle(self.actors[random.randrange(len(self.actors))])

    def let_go(self, worker: Handle) -> None:
        """The actors end with Ray."""
