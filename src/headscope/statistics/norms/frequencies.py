"""How often a tokenizer's pieces occur: their counts and ranks, from a file or counted in a corpus (kobayashi2020, 4.3)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headscope.errors import InputError
from headscope.files import write_text
from headscope.text.document import Document
from headscope.text.readers.lines import Line, numbered_lines

Integers = NDArray[np.int64]
LARGEST_ID = 1 << 24  # ids index an array: more is no vocabulary
AT_A_TIME = 256  # texts


class Frequencies:
    """Counts of pieces by id. Rank 1 is the most frequent; pieces with the same count share their rank.

    The rank of a piece is 1 + how many are more frequent, as in kobayashi2020's file: a correlation must not see an order
    among pieces that are equally frequent.

    >>> some = Frequencies({7: 10, 3: 2, 5: 2})
    >>> some.rank(7), some.rank(5), some.rank(99), some.of(3)
    (1, 2, None, 2)
    """

    def __init__(self, counts: Mapping[int, int]) -> None:
        found = sorted((id, count) for id, count in counts.items() if count > 0)
        if not found:
            raise InputError("No piece has a count: there are no frequencies.")
        self._ids = np.array([id for id, _ in found], dtype=np.int64)
        counted = np.array([count for _, count in found], dtype=np.int64)
        self._counts = np.zeros(self._ids[-1] + 2, dtype=np.int64)  # the last entry is for all ids that are not here
        self._ranks = np.zeros_like(self._counts)
        self._counts[self._ids] = counted
        self._ranks[self._ids] = 1 + len(counted) - np.searchsorted(np.sort(counted), counted, side="right")

    def __len__(self) -> int:
        return len(self._ids)

    def of(self, id: int) -> int:
        """How often a piece occurs: 0 if it is not here."""
        return int(self.counts([id])[0])

    def rank(self, id: int) -> int | None:
        """Its rank; None if it is not here."""
        return int(self.ranks([id])[0]) or None

    def counts(self, ids: ArrayLike) -> Integers:
        """`of` for an array of ids."""
        return self._counts[self._places(ids)]

    def ranks(self, ids: ArrayLike) -> Integers:
        """`rank` for an array of ids: 0 for those that are not here."""
        return self._ranks[self._places(ids)]

    def _places(self, ids: ArrayLike) -> Integers:
        wanted = np.asarray(ids, dtype=np.int64)
        return np.where((wanted >= 0) & (wanted < len(self._counts)), wanted, len(self._counts) - 1)

    @classmethod
    def read(cls, path: str | Path) -> "Frequencies":
        """A file with `rank count id` in every line. Ranks follow from the counts; the file's must not contradict them."""
        path = Path(path)
        if not path.is_file():
            raise InputError(f"There is no file {path}: give one with `rank count id` in every line.")
        counts: dict[int, int] = {}
        rows: list[tuple[int, int, int]] = []  # count, rank, line
        for line in numbered_lines(path):
            if line.blank:
                continue
            rank, count, id = _parsed(path, line)
            if id in counts:
                raise InputError(f"{path}:{line.number}: the piece {id} is there twice; every id has one line.")
            counts[id] = count
            rows.append((count, rank, line.number))
        if not counts:
            raise InputError(f"{path} is empty: it needs `rank count id` in every line.")
        _check_ranks(path, rows)
        return cls(counts)

    @classmethod
    def count(cls, tokenizer: Any, corpus: Iterable[Any]) -> "Frequencies":
        """The pieces of a corpus, special tokens too, as the tokenizer cuts its whole texts (targets are not counted)."""
        counts: Counter[int] = Counter()
        texts = map(_segments, map(Document.of, corpus))
        while some := list(islice(texts, AT_A_TIME)):
            for segments in (1, 2):  # a tokenizer takes texts with a pair, or texts without
                alike = [text for text in some if len(text) == segments]
                if alike:
                    encoded = tokenizer(*map(list, zip(*alike, strict=True)), verbose=False)
                    counts.update(id for ids in encoded["input_ids"] for id in ids)
        return cls(counts)

    def write(self, path: str | Path) -> None:
        """A file that `read` reads: the most frequent first, those with one count by their ids."""
        write_text(Path(path), "".join(f"{rank} {count} {id}\n" for rank, count, id in self))

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        """(rank, count, id), in order of rank and then of id."""
        ids = self._ids[np.argsort(self._ranks[self._ids], kind="stable")]
        return zip(self._ranks[ids].tolist(), self._counts[ids].tolist(), ids.tolist(), strict=True)


def _segments(document: Document) -> tuple[str, ...]:
    """The one or two texts of a document, as a lens gives them to its tokenizer."""
    first = document.text if document.text is not None else document.text_and_spans()[0]
    second = document.pair
    if document.pair_words is not None:
        second = " ".join(document.pair_words)
    return (first,) if second is None else (first, second)


def _parsed(path: Path, line: Line) -> tuple[int, int, int]:
    try:
        if line.fault is not None:
            raise ValueError(line.fault)
        rank, count, id = (int(part) for part in line.text.split())
    except ValueError:
        shown = line.fault or f"{line.text.strip()[:40]!r} is not three whole numbers, `rank count id`"
        raise InputError(f"{path}:{line.number}: {shown}.") from None
    if rank < 1 or count < 1 or not 0 <= id < LARGEST_ID:
        raise InputError(f"{path}:{line.number}: ranks and counts begin at 1 and ids at 0, but here is {rank} {count} {id}.")
    return rank, count, id


def _check_ranks(path: Path, rows: list[tuple[int, int, int]]) -> None:
    """Refuse a file in which a piece that is more frequent has a higher rank: its columns are in another order."""
    rows = sorted(rows, key=lambda row: (-row[0], row[1]))
    for before, row in pairwise(rows):
        if row[0] < before[0] and row[1] <= before[1]:
            raise InputError(
                f"{path}:{row[2]}: the piece has rank {row[1]} with a count of {row[0]}, "
                f"but line {before[2]} has rank {before[1]} with {before[0]}: the columns must be `rank count id`."
            )
