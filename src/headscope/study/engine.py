"""Engines: who works on the shards. The local one does it here, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from headscope.lens.lens import Lens
from headscope.lens.source import ModelSource
from headscope.progress import Progress
from headscope.study.manifest import MadeWith
from headscope.study.shards import Shard


class Answer(Protocol):
    """What a shard has come to."""

    @property
    def index(self) -> int: ...


Done = TypeVar("Done", bound=Answer)
Done_co = TypeVar("Done_co", bound=Answer, covariant=True)


class Job(Protocol[Done_co]):
    """What is done with every shard, as data: another process opens the model from its recipe, and is handed this."""

    @property
    def source(self) -> ModelSource: ...

    @property
    def made_with(self) -> MadeWith: ...

    def count(self, lens: Lens, shard: Shard) -> Done_co: ...


class Engine(Protocol):
    """Does a job on every shard, in any order and anywhere, and yields what each has come to. Who asks writes it down."""

    def run(self, job: Job[Done], shards: Iterable[Shard], progress: Progress) -> Iterator[Done]: ...


class LocalEngine:
    """One process, with one open lens."""

    def __init__(self, lens: Lens) -> None:
        self.lens = lens

    def run(self, job: Job[Done], shards: Iterable[Shard], progress: Progress) -> Iterator[Done]:
        for shard in shards:
            yield job.count(self.lens, shard)
