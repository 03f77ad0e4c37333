"""From numbered lines to documents: a block is the lines of one document, and a bad line costs its own block only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from headscope.errors import InputError, ReadingError
from headscope.text.document import Document
from headscope.text.readers.lines import Line

# Readers yield what is wrong instead of raising it: a generator that raises is over, and the rest would be lost.
Result = Document | ReadingError


@dataclass(frozen=True)
class LineBlock:
    """The lines of one document in a file."""

    path: str
    lines: list[Line]

    @property
    def name(self) -> str:
        return f"{self.path}:{self.lines[0].number}"

    def error(self, line: Line, reason: str) -> ReadingError:
        return ReadingError(f"{self.path}, line {line.number}", reason)

    def check(self) -> None:
        """Every line could be read, or ReadingError."""
        for line in self.lines:
            if line.fault is not None:
                raise self.error(line, line.fault)


def one_by_one(lines: Iterable[Line], path: str) -> Iterator[LineBlock]:
    """Each line that is not blank is a block."""
    return (LineBlock(path, [line]) for line in lines if not line.blank)


def by_blank_lines(lines: Iterable[Line], path: str) -> Iterator[LineBlock]:
    """Blank lines part the blocks, and belong to none."""
    by_blank = groupby(lines, lambda line: line.blank)
    return (LineBlock(path, list(block)) for blank, block in by_blank if not blank)


def parse_each(blocks: Iterable[LineBlock], parse: Callable[[LineBlock], Document | None]) -> Iterator[Result]:
    """The document of each block, or what is wrong with it; None is a block that holds nothing to read."""
    for block in blocks:
        try:
            block.check()
            document = parse(block)
        except InputError as error:
            yield ReadingError.at(f"{block.path}, line {block.lines[0].number}", error)
            continue
        if document is not None:
            yield document
