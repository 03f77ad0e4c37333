"""Corpus: documents in order, from files or from anything iterable, with what was wrong and what makes it the same."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol

from headscope.errors import InputError, ReadingError
from headscope.text.annotate import Annotator
from headscope.text.document import Document
from headscope.text.pieces import Cut
from headscope.text.readers.file_source import FileSource
from headscope.text.readers.item_source import ItemSource
from headscope.text.readers.line_blocks import Result
from headscope.text.readers.places import NotPlain, Place
from headscope.text.skipped import Skipped

OnError = Literal["stop", "skip"]
KEPT = 16_000_000  # bytes of files whose documents are kept when they are counted, so that they are parsed once


class Source(Protocol):
    """Where documents come from."""

    def read(self) -> Iterator[Result]: ...

    def fingerprint(self) -> str: ...

    def describe(self) -> dict[str, Any]: ...


class Corpus:
    """Iterate over it for its documents; make one with `of`, `from_files` or `from_documents`.

    What is no document raises InputError with its file and line, or with on_error="skip" is passed over
    and counted in `skipped` (of the latest pass); nothing else is lost.

    >>> [document.text for document in Corpus.of(["One text.", "Another."])]
    ['One text.', 'Another.']
    """

    def __init__(self, source: Source, *, on_error: OnError = "stop", annotator: Annotator | None = None) -> None:
        if on_error not in ("stop", "skip"):
            raise InputError(f'on_error is "stop" or "skip", not {on_error!r}.')
        self.source = source
        self.on_error = on_error
        self.annotator = annotator
        self.skipped = Skipped()

    @classmethod
    def of(cls, given: Any, **settings: Any) -> Corpus:
        """A corpus from what people pass: a path, a folder, a glob, a list of Paths, or an iterable of documents."""
        if isinstance(given, Corpus):
            if settings:
                raise InputError(f"This is a corpus already: give {', '.join(settings)} where it is made.")
            return given
        if isinstance(given, (str, Path)):
            return cls.from_files(given, **settings)
        if isinstance(given, (list, tuple)) and given and all(isinstance(item, Path) for item in given):
            return cls.from_files(*given, **settings)
        if isinstance(given, (list, tuple)) and given and all(isinstance(item, str) and _is_file(item) for item in given):
            raise InputError(f"These texts are names of files, such as {given[0]}: write Corpus.from_files(*paths).")
        return cls.from_documents(given, **settings)

    @classmethod
    def from_files(
        cls,
        *paths: str | Path,
        format: str | None = None,
        unit: str | None = None,
        column: str | None = None,
        keep_marks: bool = False,
        needs: str | None = None,
        on_error: OnError = "stop",
    ) -> Corpus:
        """Files, folders or globs; the format is recognised from the content unless one of FORMATS is given.

        WikiText's marks ( @-@ , @,@ , @.@ ) are undone, unless `keep_marks` says otherwise. `needs` names a layer (such as
        "mentions") that documents must have: a format without it is refused, with why it is none of those that have it.
        """
        return cls(FileSource(paths, format, unit, column, keep_marks, needs), on_error=on_error)

    @classmethod
    def from_documents(cls, documents: Iterable[Any], *, column: str | None = None, on_error: OnError = "stop") -> Corpus:
        """Strings, pairs of strings, lists of words, Documents, or rows (Hugging Face datasets) with a column of text."""
        return cls(ItemSource(documents, column), on_error=on_error)

    def annotated(self, annotator: Annotator) -> Corpus:
        """The same corpus with every document annotated."""
        return Corpus(self.source, on_error=self.on_error, annotator=annotator)

    def bare(self) -> Corpus:
        """The same corpus without annotations."""
        return Corpus(self.source, on_error=self.on_error)

    def take(self, count: int | None) -> Corpus:
        """Its first documents, in memory; all of it, as it is, for None."""
        if count is None:
            return self
        return self._in_memory(list(islice(self, count)), {**self.describe(), "asked": count})

    def choose(self, documents: Iterable[Document], **described: Any) -> Corpus:
        """Some of its documents, or parts of them, in memory; `described` is what a manifest says of them otherwise."""
        own = {name: one for name, one in self.describe().items() if name != "asked"}
        return self._in_memory(list(documents), own | described)

    def _in_memory(self, documents: list[Document], described: dict[str, Any]) -> Corpus:
        return Corpus(ItemSource(documents, origin=described), on_error=self.on_error)

    def __iter__(self) -> Iterator[Document]:
        self.skipped = Skipped()
        documents = self._documents(self.skipped)
        return documents if self.annotator is None else self.annotator.annotate(documents)

    def _documents(self, skipped: Skipped) -> Iterator[Document]:
        for result in self.source.read():
            found = self._checked(result)
            if isinstance(found, Document):
                yield found
            elif self.on_error == "stop":
                raise found
            else:
                skipped.add(found)

    def _checked(self, result: Result) -> Result:
        """An error, where a document cannot be annotated."""
        if self.annotator is not None and isinstance(result, Document):
            try:
                self.annotator.check(result)
            except InputError as error:
                return ReadingError.at(result.name, error)
        return result

    def cut(self, size: int) -> Cut:
        """Count the documents as they are read, without annotations, and find the place of every so many of them."""
        source = self.source
        if not isinstance(source, FileSource) or not source.has_places:
            bare = self.bare()
            if isinstance(source, FileSource) and source.size <= KEPT:
                documents = list(bare)
                return Cut(size, len(documents), bare.skipped, kept=documents)
            return Cut(size, sum(1 for _ in bare), bare.skipped)
        sizes, skipped = [path.stat().st_size for path in source.paths], Skipped()
        kept: list[Document] | None = [] if sum(sizes) <= KEPT else None
        try:
            count, places = source.places(size)
            kept = None  # it was not read as documents
        except NotPlain:
            count, places = self._placed(source, size, skipped, kept)
        return Cut(size, count, skipped, source, places, sizes, kept)

    def _placed(
        self, source: FileSource, size: int, skipped: Skipped, kept: list[Document] | None
    ) -> tuple[int, list[Place]]:
        documents, places = 0, []
        for result, place in source.placed():
            if place is None:
                assert isinstance(result, ReadingError)
                if self.on_error == "stop":
                    raise result
                skipped.add(result)
                continue
            if documents % size == 0:
                places.append(place)
            if kept is not None and isinstance(result, Document):
                kept.append(result)
            documents += 1
        return documents, places

    def fingerprint(self) -> str:
        """A sha256 that is the same only if the documents are: see the sources for what goes into it."""
        source = self.source.fingerprint()
        if self.annotator is None:
            return source
        return hashlib.sha256(json.dumps([source, self.annotator.describe()]).encode()).hexdigest()

    def describe(self) -> dict[str, Any]:
        """What a manifest says of this corpus."""
        annotator = {} if self.annotator is None else {"annotator": self.annotator.describe()}
        return {**self.source.describe(), "on_error": self.on_error, **annotator}


def _is_file(text: str) -> bool:
    return len(text) < 256 and os.path.isfile(text)
