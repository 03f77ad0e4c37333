"""The crew: workers with the shards they have, and what becomes of those of one that is lost."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import Any

from headscope.engines.cluster import Cluster, Share
from headscope.engines.worker import Failed, Ready
from headscope.errors import HeadscopeError
from headscope.progress import Progress
from headscope.study.engine import Job
from headscope.study.shards import Shard
from headscope.text.pieces import NotHere

LOOK = 5.0  # seconds after which a wait looks up
AT_ONCE = 64  # answers taken out of one wait


class WorkFailed(HeadscopeError):
    """Shards that no worker can count, or no workers to count them."""


@dataclass(eq=False)
class Member:
    """A worker, and the shards that it has, the oldest first: that is the one it counts."""

    actor: Any
    ready: Ready | None = None  # once its model is open
    has: deque[Shard] = field(default_factory=deque)
    sees_files: bool = True  # of the corpus, as far as is known


class Crew:
    """Hands shards to workers and takes answers back: `begin`, then `give` and `wait` until it is idle, then `check`."""

    def __init__(self, cluster: Cluster, in_flight: int, tries: int, patience: float) -> None:
        self.cluster, self.in_flight, self.tries, self.patience = cluster, in_flight, tries, patience
        self.ray = cluster.join()
        self.members: list[Member] = []
        self._reset()

    def _reset(self) -> None:
        self.opening: dict[Any, Member] = {}
        self.counting: dict[Any, tuple[Member, Shard]] = {}
        self.again: deque[Shard] = deque()
        self.failures: Counter[int] = Counter()
        self.stopped: HeadscopeError | None = None
        self.refused: HeadscopeError | None = None
        self.alone_since: float | None = None

    # One run

    def begin(self, job: Job[Any], progress: Progress) -> None:
        """Have every worker open the job's model; there are as many as the cluster is asked for."""
        self._reset()
        self.job, self.progress = job, progress
        self.share: Share = self.cluster.share(job.source, job.made_with.size)
        self.sent = self.ray.put(job)  # once, not with every shard
        for member in self.members:
            self._open(member)
        while len(self.members) < self.share.workers:
            self._hire()
        self._tell()

    def end(self) -> None:
        """Whoever still counts counts for nobody: it is let go."""
        for member in {id(member): member for member, _ in self.counting.values()}.values():
            self._dismiss(member)
        self.counting, self.opening = {}, {}
        self.sent = None

    def dismiss(self) -> None:
        for member in list(self.members):
            self._dismiss(member)

    def check(self) -> None:
        """Raise what has stopped the run, once all that was being counted has come in."""
        if self.stopped is not None:
            raise self.stopped

    # Shards

    @property
    def has_room(self) -> bool:
        return self.stopped is None and self._freest() is not None

    @property
    def is_idle(self) -> bool:
        """Nothing is being counted, and nothing will be."""
        return not self.counting and (self.stopped is not None or (not self.again and self._freest() is not None))

    def returned(self) -> Shard | None:
        """A shard that was handed out before and came to nothing."""
        return self.again.popleft() if self.again else None

    def give(self, shard: Shard) -> None:
        member = self._freest()
        assert member is not None
        member.has.append(shard)
        sent = shard if member.sees_files else replace(shard, documents=list(shard.documents))
        self.counting[member.actor.count.remote(self.sent, sent)] = (member, shard)

    def wait(self) -> list[Any]:
        """Answers, as soon as there is one; none, where workers came or went meanwhile."""
        pending = [*self.opening, *self.counting]
        if not pending:
            self._check_alone()
            raise WorkFailed("There is no worker left, and none can be had: run the same command again.")
        done, _ = self.ray.wait(pending, num_returns=1, timeout=LOOK)
        if done and len(pending) > 1:
            done, _ = self.ray.wait(pending, num_returns=min(len(pending), AT_ONCE), timeout=0)
        answers = []
        for reference in done:
            if reference in self.opening:
                self._opened(reference)
            elif reference in self.counting:
                answers += self._counted(reference)
        self._check_alone()
        return answers

    def _freest(self) -> Member | None:
        free = [member for member in self.members if member.ready and len(member.has) < self.in_flight]
        return min(free, key=lambda member: len(member.has), default=None)

    def _counted(self, reference: Any) -> list[Any]:
        member, shard = self.counting.pop(reference)
        errors = self.ray.exceptions
        try:
            answer = self.ray.get(reference)
        except errors.RayTaskError as error:
            member.has.remove(shard)
            self._failed(shard, _last_line(error), member)
            return []
        except errors.RayError as error:
            self._lost(member, shard, error)
            return []
        member.has.remove(shard)
        if not isinstance(answer, Failed):
            return [answer]
        if isinstance(answer.error, NotHere):
            member.sees_files = False  # from now on it gets the documents themselves
            self.again.append(shard)
        else:
            self.stopped = self.stopped or answer.error
        return []

    def _failed(self, shard: Shard, why: str, member: Member) -> None:
        """Another try, or the end."""
        self.failures[shard.index] += 1
        if self.failures[shard.index] < self.tries:
            self.again.append(shard)
            return
        ready = member.ready
        log = f" (its log, on {ready.host}: {ready.log})" if ready and ready.log else ""
        self.stopped = self.stopped or WorkFailed(
            f"Shard {shard.index}, {_named(shard)}, failed {self.tries} times, the last time with: {why}{log}; all other "
            "shards that were counted are kept: mend or remove these documents, or run the same command again."
        )

    # Workers

    def _hire(self) -> None:
        member = Member(self.cluster.hire(self.share))
        self.members.append(member)
        self._open(member)

    def _open(self, member: Member) -> None:
        member.ready = None
        member.has.clear()
        self.opening[member.actor.open.remote(self.job.source, self.job.made_with, os.getcwd())] = member

    def _opened(self, reference: Any) -> None:
        member = self.opening.pop(reference)
        errors = self.ray.exceptions
        try:
            answer = self.ray.get(reference)
        except errors.RayError as error:
            self._dismiss(member)
            self.failures[-1] += 1
            if self.failures[-1] < self.tries * self.share.workers:
                self._hire()
            else:
                self.refused = WorkFailed(f"Workers cannot open the model, the last one with: {_last_line(error)}.")
        else:
            if isinstance(answer, Failed):
                self._dismiss(member)
                self.refused = answer.error
                self.progress.say(str(answer.error))
            else:
                member.ready = answer
        self._tell()

    def _lost(self, member: Member, shard: Shard, error: Any) -> None:
        """What it counted has one try less; what only waited has not."""
        if member in self.members:
            where = f" {member.ready.pid} on {member.ready.host}" if member.ready else ""
            self.progress.say(f"Worker{where} is lost ({_last_line(error)}): its shards are counted by others.")
            self._dismiss(member)
            if self.stopped is None:
                self._hire()
            self._tell()
            suspect = bool(member.has) and member.has[0] is shard
        else:
            suspect = False
        if shard in member.has:
            member.has.remove(shard)
        if suspect:
            self._failed(shard, f"its worker died ({_last_line(error)})", member)
        else:
            self.again.append(shard)

    def _dismiss(self, member: Member) -> None:
        if member in self.members:
            self.members.remove(member)
        self.cluster.let_go(member.actor)

    def _tell(self) -> None:
        alive = sum(1 for member in self.members if member.ready)
        wanted = f" of {self.share.workers}" if alive < self.share.workers else ""
        self.progress.by(f"{alive}{wanted} worker{'s' if self.share.workers != 1 else ''}")

    def _check_alone(self) -> None:
        """With no worker at all, wait for one only so long."""
        if any(member.ready for member in self.members):
            self.alone_since = None
            return
        if self.refused is not None and not self.opening:
            raise self.refused
        self.alone_since = self.alone_since or time.monotonic()
        if time.monotonic() - self.alone_since > self.patience:
            asked = f"{self.share.threads} CPUs, {self.share.gpus} GPUs and {self.share.memory / 2**30:.1f} GB"
            raise WorkFailed(
                f"No worker has come within {self.patience:.0f} s: each asks for {asked}, and the cluster has "
                f"{self.cluster.says()} free; ask for fewer or smaller workers (--workers), or wait for room."
            )


def _named(shard: Shard) -> str:
    """Which documents, by their places and names."""
    last = shard.start + len(shard.documents) - 1
    names = [document.name for document in (shard.documents[0], shard.documents[-1]) if document.name]
    called = f" ({names[0]} to {names[-1]})" if names else ""
    return f"documents {shard.start} to {last}{called}"


def _last_line(error: BaseException) -> str:
    """What an error says in the end: Ray puts the whole way to it before."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[-1].rstrip(".") if "RayTaskError" in type(error).__name__ else lines[0].rstrip(".")
