"""Engines: who computes the shards. The local one does it here, one after the other."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from headscope.lens.lens import Lens
from headscope.study.shards import Shard
from headscope.study.work import ShardCounts, Work


class Engine(Protocol):
    """Does `work` on every shard, in any order and anywhere, and yields what each has come to. The study writes it down."""

    def run(self, work: Work, shards: Iterable[Shard]) -> Iterator[ShardCounts]: ...


class LocalEngine:
    """One process, with one open lens."""

    def __init__(self, lens: Lens) -> None:
        self.lens = lens

    def run(self, work: Work, shards: Iterable[Shard]) -> Iterator[ShardCounts]:
        for shard in shards:
            yield work.count(self.lens, shard)
