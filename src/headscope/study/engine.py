"""Engines: who works on the shards. The local one does it here, several at a time where there are many."""

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
from headscope.study.side_by_side import copies_for, side_by_side


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

    @property
    def side_by_side(self) -> int:
        """How many shards there are that copies of a process may work on; 1 where it has to be one after another.

        Those of the whole run, however many are left: one that goes on after a kill does as it would have done.
        """
        ...

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
    """This process, with one open lens, or copies of it; the next shard is prepared while the model runs."""

    def __init__(self, lens: Lens) -> None:
        self.lens = lens

    def run(self, job: Job[Done], shards: Iterable[Shard], progress: Progress) -> Iterator[Done]:
        prepared, count = ahead(partial(job.prepare, self.lens), shards), partial(job.count, self.lens)
        copies = copies_for(self.lens, job.side_by_side)
        yield from map(count, prepared) if copies == 1 else side_by_side(count, prepared, copies)
