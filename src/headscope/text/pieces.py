"""A corpus of files cut into pieces that are read where they are used: only their places are handed about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from headscope.errors import InputError
from headscope.text.document import Document
from headscope.text.readers.file_source import FileSource
from headscope.text.readers.places import Place
from headscope.text.skipped import Skipped


class NotHere(InputError):
    """A file of the corpus that cannot be read from this machine."""


class Piece(Sequence[Document]):
    """Some consecutive documents of files. It is a few hundred bytes, wherever it is sent: they are read when asked for."""

    def __init__(
        self,
        source: FileSource,
        place: Place,
        count: int,
        sizes: Sequence[int],
        kept: Sequence[Document] | None = None,
    ) -> None:
        self.source, self.place, self.documents, self.sizes = source, place, count, sizes
        self._kept = kept  # the documents, where they have been read in this process

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_kept": None}

    def __len__(self) -> int:
        return self.documents

    def __iter__(self) -> Iterator[Document]:
        self._check()
        if self._kept is not None:
            yield from self._kept
            return
        found = 0
        for result in self.source.read(self.place):
            if isinstance(result, Document):
                yield result
                found += 1
                if found == self.documents:
                    return
        raise InputError(f"{self.source.paths[0]} has changed since the run was begun: begin another.")

    @overload
    def __getitem__(self, index: int) -> Document: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Document]: ...

    def __getitem__(self, index: int | slice) -> Document | Sequence[Document]:
        return list(self)[index]

    def _check(self) -> None:
        for path, size in zip(self.source.paths, self.sizes, strict=True):
            if not path.is_file():
                raise NotHere(f"There is no file {path} here: check the path.")
            if path.stat().st_size != size:
                raise InputError(f"{path} is not the file that the run was begun with: put the same one here.")


@dataclass(frozen=True)
class Cut:
    """A corpus counted: how many documents it has, what was passed over, and where every so many of them begin, if known."""

    size: int  # documents a piece
    documents: int
    skipped: Skipped
    source: FileSource | None = None
    places: Sequence[Place] = ()
    sizes: Sequence[int] = ()  # of the files, in bytes
    kept: Sequence[Document] | None = None  # all documents, where they are few and had to be read to be counted

    def piece(self, index: int) -> Piece | None:
        """The documents of one piece; None where they can only be reached from the beginning."""
        if self.source is None:
            return None
        place = self.places[index]
        last = self.places[index + 1].file if index + 1 < len(self.places) else len(self.source.paths) - 1
        files = slice(place.file, last + 1)
        count = min(self.size, self.documents - index * self.size)
        kept = None if self.kept is None else self.kept[index * self.size : index * self.size + count]
        return Piece(self.source.only(files), place._replace(file=0), count, self.sizes[files], kept)
