"""Engines: who works on the shards. The local one does it here, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Protocol, TypeVar

from headscope.lens.lens import Lens
from headscope.lens.source import ModelSource
from headscope.progress import Progress
from headscope.study.ahead import ahead
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

    def prepare(self, lens: Lens, shard: Shard) -> Shard:
        """The shard with what can be made of it beside the model's run: it is read, its texts become tokens."""
        ...

    def count(self, lens: Lens, shard: Shard) -> Done_co:
        """What a shard comes to, whether it was prepared or not."""
        ...


class Engine(Protocol):
    """Does a job on every shard, in any order and anywhere, and yields what each has come to. Who asks writes it down."""

    def run(self, job: Job[Done], shards: Iterable[Shard], progress: Progress) -> Iterator[Done]: ...


class LocalEngine:
    """One process, with one open lens; the next shard is prepared while the model runs over one."""

    def __init__(self, lens: Lens) -> None:
        self.lens = lens

    def run(self, job: Job[Done], shards: Iterable[Shard], progress: Progress) -> Iterator[Done]:
        for shard in ahead(partial(job.prepare, self.lens), shards):
            yield job.count(self.lens, shard)
