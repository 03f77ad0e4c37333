"""Where documents stand in files, so that one can begin to read in the middle: by lines, in files that are not packed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headscope.text.readers.lines import LONGEST, UTF8_MARK, Line

AT_ONCE = 2**22  # bytes


class Place(NamedTuple):
    """The first line of a document: of which file of a corpus, at which byte, and its number."""

    file: int
    offset: int
    line: int


class Offsets:
    """Lines, and where those stand that may still be the first of a document."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = lines
        self._met: deque[tuple[int, int]] = deque()

    def __iter__(self) -> Iterator[Line]:
        for line in self.lines:
            self._met.append((line.number, line.offset))
            yield line

    def of(self, number: int) -> int:
        """The byte at which a line begins; no earlier one will be asked for."""
        while self._met[0][0] < number:
            self._met.popleft()
        return self._met[0][1]


class NotPlain(Exception):
    """Something that only reading line by line can tell about."""


def filled_lines(path: Path, file: int, every: int, before: int = 0) -> tuple[int, list[Place]]:
    """How many lines of a file are not blank, and the places of every so many of them, where `before` came before.

    As `numbered_lines` would find, but a hundred times as fast; NotPlain where a line could not be read.
    """
    count, places, first = before, [], 0
    offset, rest = 0, b""
    with path.open("rb") as opened:
        while True:
            some = opened.read(AT_ONCE)
            chunk, newline, after = (rest + some).rpartition(b"\n") if some else (rest, b"", b"")
            if not newline and some:
                rest = after
            else:
                filled, starts = _filled(chunk, is_first=offset == 0)
                wanted = np.arange(-count % every, len(filled), every)
                places += [Place(file, offset + int(starts[row]), first + int(row) + 1) for row in filled[wanted]]
                count, first = count + len(filled), first + len(starts)
                offset, rest = offset + len(chunk) + len(newline), after
            if len(rest) >= LONGEST:
                raise NotPlain
            if not some:
                return count - before, places


def _filled(chunk: bytes, is_first: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of whole lines, which are not blank, and where each begins."""
    if b"\0" in chunk:
        raise NotPlain
    mark = len(UTF8_MARK) if is_first and chunk.startswith(UTF8_MARK) else 0
    try:
        text = chunk[mark:].decode()
    except UnicodeDecodeError:
        raise NotPlain from None
    lines = text.split("\n")
    raw = lines if text.isascii() else chunk[mark:].split(b"\n")
    lengths = np.fromiter(map(len, raw), np.int64, len(raw))
    if lengths.max() >= LONGEST - 1:
        raise NotPlain
    starts = np.concatenate([[0], np.cumsum(lengths + 1)[:-1] + mark])
    blank = np.fromiter(map(str.isspace, lines), bool, len(lines))
    return np.flatnonzero(~blank & (lengths > 0)), starts
