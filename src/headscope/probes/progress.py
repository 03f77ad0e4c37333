"""Whoever shows how far a probe has come, part by part; the command line's bar is one."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """`part` names what begins, `begin` and `advance` count its sentences, `say` is for a line of its own."""

    def part(self, name: str) -> Progress: ...

    def begin(self, documents: int, done: int) -> None: ...

    def advance(self, documents: int) -> None: ...

    def say(self, line: str) -> None: ...


class Silent:
    """Shows nothing."""

    def part(self, name: str) -> Progress:
        return self

    def begin(self, documents: int, done: int) -> None: ...

    def advance(self, documents: int) -> None: ...

    def say(self, line: str) -> None: ...
