"""Progress: how far a long run has come, part by part. Shown to nobody, as a bar on a terminal, or as plain lines."""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol

EVERY = 10  # seconds between plain lines


class Progress(Protocol):
    """`part` names what begins, `begin` and `advance` count its documents; `say` is a line of its own, `by` who works."""

    def part(self, name: str) -> Progress: ...

    def begin(self, documents: int, done: int) -> None: ...

    def advance(self, documents: int) -> None: ...

    def say(self, line: str) -> None: ...

    def by(self, workers: str) -> None: ...


class Silent:
    """Shows nothing."""

    def part(self, name: str) -> Progress:
        return self

    def begin(self, documents: int, done: int) -> None: ...

    def advance(self, documents: int) -> None: ...

    def say(self, line: str) -> None: ...

    def by(self, workers: str) -> None: ...


class Bar:
    """A progress bar with rate and time left on a terminal, plain lines elsewhere; one part after another."""

    def __init__(self, quiet: bool = False) -> None:
        from rich import progress
        from rich.console import Console

        self.console = Console(stderr=True, quiet=quiet)
        columns = (
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[rate]}"),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[by]}"),
        )
        self.progress = progress.Progress(*columns, console=self.console, disable=not self.console.is_terminal)
        self.plain = not self.console.is_terminal and not quiet
        self.name = ""
        self.done = self.total = self.before = 0
        self.begun = 0.0
        self.task: Any = None
        self.said = 0.0
        self.lines: set[str] = set()
        self.workers = ""

    def __enter__(self) -> Bar:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def part(self, name: str) -> Bar:
        """The same bar for the next part, under its name."""
        self.name = name
        return self

    def say(self, line: str) -> None:
        """Once: several parts may have the same to say of a corpus that they all read."""
        if line not in self.lines:
            self.console.print(line, highlight=False, markup=False)
        self.lines.add(line)

    def begin(self, documents: int, done: int) -> None:
        self.total, self.done, self.before, self.begun = documents, done, done, time.monotonic()
        self.task = self.progress.add_task(self.name, total=documents, completed=done, rate="", by="")
        if done and done < documents:
            self.console.print(f"Going on: {done:,} of {documents:,} documents are counted already.")

    def by(self, workers: str) -> None:
        """Who works, such as "2 workers": beside the bar, and in the plain lines."""
        self.workers = workers
        if self.task is not None:
            self.progress.update(self.task, by=workers)

    def advance(self, documents: int) -> None:
        self.done += documents
        speed = self.progress.tasks[self.task].speed
        self.progress.update(self.task, advance=documents, rate=f"{speed:.1f} documents/s" if speed else "")
        if self.plain and (self.done >= self.total or time.monotonic() - self.said > EVERY):
            self.said = time.monotonic()
            said = [f"{self.done:,} of {self.total:,} documents", *self._pace(), *filter(None, [self.workers])]
            print(f"{self.name + ': ' if self.name else ''}{', '.join(said)}", file=sys.stderr)

    def _pace(self) -> list[str]:
        """How fast, and how long yet: of the documents that were counted since this part began."""
        taken = time.monotonic() - self.begun
        if self.done >= self.total or taken <= 0:
            return []
        speed = (self.done - self.before) / taken
        return [f"{speed:.1f} a second", f"{duration((self.total - self.done) / speed)} left"]


def duration(seconds: float) -> str:
    """
    >>> duration(42), duration(600), duration(7300)
    ('42 s', '10 min', '2.0 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
