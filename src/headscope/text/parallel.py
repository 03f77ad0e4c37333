"""Parallel texts, a sentence pair a line: `source ||| target` in one file, or a file for each side."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

from headscope.errors import InputError
from headscope.text.corpus import Corpus, OnError
from headscope.text.document import Document
from headscope.text.readers.line_blocks import LineBlock, Result, parse_each
from headscope.text.readers.lines import numbered_lines
from headscope.text.readers.paths import find_files, hash_of

SEPARATOR = "|||"


def parallel_documents(
    source: str | Path,
    target: str | Path | None = None,
    *,
    first: Literal["source", "target"] = "source",
    on_error: OnError = "stop",
) -> Corpus:
    """A corpus of documents with `words` (the source's) and `target_words`: the texts are tokenised, spaces part the words.

    With one file, `first` says which side stands before `|||`. Leave on_error as it is where there are gold links: they are
    counted by lines, and a line that is skipped would shift them.
    """
    return Corpus(ParallelFiles(source, target, first), on_error=on_error)


def sentence_lengths(documents: Iterable[Document]) -> Iterator[tuple[int, int]]:
    """How many words the source and the target of each document have."""
    return ((len(document.words or ()), len(document.target_words or ())) for document in documents)


class ParallelFiles:
    """One file with both sides, or two files whose lines belong together; the source of a corpus."""

    def __init__(self, source: str | Path, target: str | Path | None, first: str) -> None:
        if first not in ("source", "target"):
            raise InputError(f"The side that stands first is source or target, not {first!r}.")
        if target is not None and first != "source":
            raise InputError("With a file for each side, the source's is given first: swap the two files instead.")
        self.paths = [_one_file(path) for path in (source, target) if path is not None]
        self.first = first

    def read(self) -> Iterator[Result]:
        return parse_each(_line_by_line(self.paths[0]), self._one) if len(self.paths) == 1 else self._two()

    def _one(self, block: LineBlock) -> Document:
        (line,) = block.lines
        words = words_of(line.text)
        if words.count(SEPARATOR) != 1:
            many = "more than one" if SEPARATOR in words else "no"
            raise block.error(line, f"there is {many} {SEPARATOR} between the two sides, with spaces around it")
        cut = words.index(SEPARATOR)
        sides = (words[:cut], words[cut + 1 :])
        source, target = sides if self.first == "source" else sides[::-1]
        return _document(source, target, block, block)

    def _two(self) -> Iterator[Result]:
        path, target_path = self.paths
        for number, (block, target_block) in enumerate(zip_longest(_line_by_line(path), _line_by_line(target_path))):
            # A line skipped where the two part would pair all that follow wrongly: nobody can go on from here.
            if block is None or target_block is None:
                ended, longer = (path, target_path) if block is None else (target_path, path)
                raise InputError(
                    f"{ended} ends after line {number}, but {longer} goes on: both sides need the same number of lines."
                )
            yield from parse_each([block], partial(_of_two, target_block))

    def fingerprint(self) -> str:
        """sha256 over the settings and the files' bytes, not over their names: a corpus may move."""
        digest = hashlib.sha256(json.dumps({"format": "parallel", "first": self.first, "files": len(self.paths)}).encode())
        for path in self.paths:
            digest.update(hash_of(path).encode())
        return digest.hexdigest()

    def describe(self) -> dict[str, Any]:
        size = sum(path.stat().st_size for path in self.paths if path.exists())
        return {"paths": [str(path) for path in self.paths], "format": "parallel", "first": self.first, "bytes": size}


def words_of(text: str) -> list[str]:
    """What stands between spaces. A no-break space is part of its word, as tokenisers and gold links have it.

    >>> words_of(" il y a  10\\u00a0000 mots ")
    ['il', 'y', 'a', '10\\xa0000', 'mots']
    """
    return [word for word in text.replace("\t", " ").split(" ") if word]


def _line_by_line(path: Path) -> Iterator[LineBlock]:
    return (LineBlock(str(path), [line]) for line in numbered_lines(path))


def _of_two(target: LineBlock, source: LineBlock) -> Document:
    target.check()
    return _document(words_of(source.lines[0].text), words_of(target.lines[0].text), source, target)


def _document(source: list[str], target: list[str], source_at: LineBlock, target_at: LineBlock) -> Document:
    for name, words, block in (("source", source, source_at), ("target", target, target_at)):
        if not words:
            raise block.error(block.lines[0], f"the {name} side is empty")
    return Document(words=source, target_words=target, name=source_at.name)


def _one_file(given: str | Path) -> Path:
    files = find_files([given])
    if len(files) > 1:
        raise InputError(f"{given} are {len(files)} files: give one file with both sides, or one for each.")
    return files[0]
