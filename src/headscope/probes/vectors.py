"""Word vectors from a text file, held fixed (GloVe; clark2019, section 5): a word and its numbers on each line."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headscope.errors import InputError
from headscope.text.readers.lines import Line, numbered_lines


class Vectors:
    """A vector for every word: as written, else in lower case, else the mean of all vectors in the file.

    >>> vectors = Vectors(["the", "cat"], torch.tensor([[1.0, 0.0], [0.0, 3.0]]))
    >>> vectors.of(["The", "cat", "zyzzyva"])
    tensor([[1.0000, 0.0000],
            [0.0000, 3.0000],
            [0.5000, 1.5000]])
    """

    def __init__(self, words: Sequence[str], matrix: Tensor, unknown: Tensor | None = None) -> None:
        if matrix.shape[:1] != (len(words),) or matrix.ndim != 2 or not len(words):
            raise InputError(f"{len(words)} words and vectors of the shape {tuple(matrix.shape)} do not go together.")
        self.size = matrix.shape[1]
        self.table = torch.cat([matrix.float(), (matrix.mean(0) if unknown is None else unknown)[None].float()])
        self._place = {word: index for index, word in reversed(list(enumerate(words)))}  # of a word given twice, the first
        self._unknown = len(words)

    @classmethod
    def load(cls, path: str | Path, only: Collection[str] | None = None) -> Vectors:
        """Read a file in GloVe's text format, gzipped or not; a first line of two numbers (word2vec's) is passed over.

        With `only`, other words' vectors are not kept, which makes a large file small; the mean is over the whole file.
        """
        path = Path(path)
        if not path.is_file():
            raise InputError(f"There is no file {path}: give a file of word vectors, such as glove.6B.100d.txt.")
        kept = None if only is None else {form for word in only for form in (word, word.lower())}
        words: list[str] = []
        numbers = array("f")
        total, lines, size = np.zeros(0), 0, 0
        for line in numbered_lines(path):
            if line.blank or (line.number == 1 and _is_header(line)):
                continue
            size = size or len(line.text.split()) - 1
            word, values = _parse(path, line, size)
            total = values + (total if lines else 0)
            lines += 1
            if kept is None or word in kept:
                words.append(word)
                numbers.frombytes(values.astype(np.float32).tobytes())
        if not words:
            raise InputError(f"{path} has no vector for any of the words that are asked for: is it the right language?")
        matrix = torch.from_numpy(np.frombuffer(numbers, np.float32).reshape(-1, size).copy())
        return cls(words, matrix, torch.from_numpy(total / lines))

    def places(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The row of `table` of each word; the last row is that of unknown words."""
        return np.array([self._find(word) for word in words], dtype=np.int64)

    def of(self, words: Sequence[str]) -> Tensor:
        """(word, size)"""
        return self.table[torch.from_numpy(self.places(words))]

    def coverage(self, words: Sequence[str]) -> float:
        """The share of the words that have a vector of their own."""
        return float((self.places(words) != self._unknown).mean())

    def __len__(self) -> int:
        return self._unknown

    def __repr__(self) -> str:
        return f"<Vectors of {len(self)} words, {self.size} numbers each>"

    def _find(self, word: str) -> int:
        return self._place.get(word, self._place.get(word.lower(), self._unknown))


def _is_header(line: Line) -> bool:
    """word2vec and fastText begin with the number of words and of dimensions."""
    return len(parts := line.text.split()) == 2 and all(part.isdecimal() for part in parts)


def _parse(path: Path, line: Line, size: int) -> tuple[str, NDArray[np.float64]]:
    if line.fault is not None:
        raise InputError(f"{path}, line {line.number}: {line.fault}.")
    # From the right: some words of glove.840B have spaces in them.
    word, *fields = line.text.rstrip().rsplit(None, size) if size > 0 else [line.text]
    if not fields or len(fields) != size:
        raise InputError(
            f"{path}, line {line.number}: a line must be a word and {max(size, 1)} numbers, but has {len(fields)} after it; "
            "give a file of word vectors in GloVe's text format, or fetch it again."
        )
    try:
        values = np.array([float(field) for field in fields])
    except ValueError as error:
        raise InputError(
            f"{path}, line {line.number}: the vector of {word!r} has something that is no number ({error}); "
            "every line must have as many numbers as the first."
        ) from None
    if not np.isfinite(values).all():
        raise InputError(f"{path}, line {line.number}: the vector of {word!r} has a number that is not finite.")
    return word, values
