"""Whoever shows how far a long run has come, part by part; the command line's bar is one."""

from __future__ import annotations

from typing import Protocol


class Counting(Protocol):
    """`begin` and `advance` count the documents of one study."""

    def begin(self, documents: int, done: int) -> None: ...

    def advance(self, documents: int) -> None: ...


class Progress(Counting, Protocol):
    """`part` names what begins, `say` is for a line of its own."""

    def part(self, name: str) -> Progress: ...

    def say(self, line: str) -> None: ...


class Silent:
    """Shows nothing."""

    def part(self, name: str) -> Progress:
        return self

    def begin(self, documents: int, done: int) -> None: ...

    def advance(self, documents: int) -> None: ...

    def say(self, line: str) -> None: ...
