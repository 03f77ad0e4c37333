"""Parallel texts, a sentence pair a line: `source ||| target` in one file, or a file for each side."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

from headscope.errors import InputError
from headscope.files import sha256_of
from headscope.text.corpus import Corpus, OnError
from headscope.text.document import Document
from headscope.text.readers.line_blocks import ReadingError, Result
from headscope.text.readers.lines import Line, numbered_lines
from headscope.text.readers.paths import find_files

SEPARATOR = "|||"
_SIDES = ("source", "target")


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
        if first not in _SIDES:
            raise InputError(f"The side that stands first is source or target, not {first!r}.")
        if target is not None and first != "source":
            raise InputError("With a file for each side, the source's is given first: swap the two files instead.")
        self.paths = [_one_file(path) for path in (source, target) if path is not None]
        self.first = first

    def read(self) -> Iterator[Result]:
        return self._one() if len(self.paths) == 1 else self._two()

    def _one(self) -> Iterator[Result]:
        (path,) = self.paths
        for line in numbered_lines(path):
            words = words_of(line.text)
            if line.fault is not None:
                yield _error(path, line, line.fault)
            elif words.count(SEPARATOR) != 1:
                many = "more than one" if SEPARATOR in words else "no"
                yield _error(path, line, f"there is {many} {SEPARATOR} between the two sides, with spaces around it")
            else:
                cut = words.index(SEPARATOR)
                sides = (words[:cut], words[cut + 1 :])
                source, target = sides if self.first == "source" else sides[::-1]
                yield _document(source, target, (path, line), (path, line))

    def _two(self) -> Iterator[Result]:
        path, target_path = self.paths
        last: Line | None = None
        for line, target_line in zip_longest(numbered_lines(path), numbered_lines(target_path)):
            # A line skipped where the two part would pair all that follow wrongly: nobody can go on from here.
            if line is None or target_line is None:
                ended, longer = (path, target_path) if line is None else (target_path, path)
                raise InputError(
                    f"{ended} ends after line {last.number if last else 0}, but {longer} goes on: "
                    "both sides need the same number of lines."
                )
            last = line
            faults = [(path, line), (target_path, target_line)]
            fault = next((_error(file, faulty, faulty.fault) for file, faulty in faults if faulty.fault is not None), None)
            yield fault or _document(words_of(line.text), words_of(target_line.text), *faults)

    def fingerprint(self) -> str:
        """sha256 over the settings and the files' bytes, not over their names: a corpus may move."""
        digest = hashlib.sha256(json.dumps({"format": "parallel", "first": self.first, "files": len(self.paths)}).encode())
        for path in self.paths:
            try:
                digest.update(sha256_of(path).encode())
            except OSError as error:
                raise InputError(f"{path} cannot be read ({error.strerror}): check the path.") from None
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


def _document(source: list[str], target: list[str], source_at: tuple[Path, Line], target_at: tuple[Path, Line]) -> Result:
    for name, words, (path, line) in (("source", source, source_at), ("target", target, target_at)):
        if not words:
            return _error(path, line, f"the {name} side is empty")
    path, line = source_at
    try:
        return Document(words=source, target_words=target, name=f"{path}:{line.number}")
    except InputError as error:
        return ReadingError.at(f"{path}, line {line.number}", error)


def _error(path: Path, line: Line, reason: str | None) -> ReadingError:
    return ReadingError(f"{path}, line {line.number}", reason or "")


def _one_file(given: str | Path) -> Path:
    files = find_files([given])
    if len(files) > 1:
        raise InputError(f"{given} are {len(files)} files: give one file with both sides, or one for each.")
    return files[0]
