"""Engines: who computes the shards. The local one does it here, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from headscope.study.shards import Shard


class Engine(Protocol):
    """Runs `work` on every shard, in any order, and yields each shard's index when it is on the disk."""

    def run(self, shards: Iterable[Shard], work: Callable[[Shard], None]) -> Iterator[Shard]: ...


class LocalEngine:
    """One process."""

    def run(self, shards: Iterable[Shard], work: Callable[[Shard], None]) -> Iterator[Shard]:
        for shard in shards:
            work(shard)
            yield shard
