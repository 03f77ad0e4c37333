"""Ray: shards are counted by actors, on this machine or a cluster, and come back to be written down here.

Ours is only the thin part that hands out shards. Each worker has a few at a time, so that none waits for the next and
neither the corpus nor the states pile up here. A worker that is lost is replaced, and what it had is handed out again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from headscope.engines.cluster import Cluster
from headscope.engines.crew import Crew
from headscope.progress import Progress
from headscope.study.engine import Done, Job
from headscope.study.shards import Shard

IN_FLIGHT = 2  # shards a worker has: one that it counts, one that waits
TRIES = 3  # of a shard that a worker dies of, or fails at


class Ray:
    """Workers by Ray. `address` is a cluster's ("auto", "10.0.0.1:6379", "ray://..."); without one, Ray begins here.

    `workers` is how many: without it one a GPU for a model on GPUs, else as many as the cluster's cores allow with `threads`
    each (4, or as many as there are). `in_flight` is how many shards a worker has at once, `tries` how often one that fails
    is tried, `patience` how many seconds to wait for a first worker, `init` more for ray.init, where Ray begins here. Close
    it, or use `with`, to give everything back; one engine serves many studies.
    """

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        *,
        threads: int | None = None,
        in_flight: int = IN_FLIGHT,
        tries: int = TRIES,
        patience: float = 300,
        init: Mapping[str, Any] | None = None,
    ) -> None:
        self.cluster = Cluster(address, workers, threads, init)
        self.in_flight, self.tries, self.patience = in_flight, tries, patience
        self._crew: Crew | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the workers go, and end Ray where this engine began it."""
        if self._crew is not None:
            self._crew.dismiss()
            self._crew = None
        self.cluster.leave()

    def run(self, job: Job[Done], shards: Iterable[Shard], progress: Progress) -> Iterator[Done]:
        """What every shard has come to, as they come."""
        waiting = iter(shards)
        first = next(waiting, None)
        if first is None:
            return  # nothing is left to count: no cluster is asked for
        if self._crew is None:
            self._crew = Crew(self.cluster, self.in_flight, self.tries, self.patience)
        crew, todo = self._crew, deque([first])
        crew.begin(job, progress)
        try:
            while True:
                while crew.has_room and (shard := crew.returned() or _next(todo, waiting)) is not None:
                    crew.give(shard)
                if crew.is_idle:
                    break
                answers: list[Any] = crew.wait()
                yield from answers
        finally:
            crew.end()
        crew.check()


def _next(todo: deque[Shard], waiting: Iterator[Shard]) -> Shard | None:
    return todo.popleft() if todo else next(waiting, None)
