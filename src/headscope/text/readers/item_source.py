"""Anything iterable as the source of a corpus: strings, pairs, lists of words, Documents, rows of a dataset."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from headscope.errors import InputError, ReadingError
from headscope.text.links import Links
from headscope.text.readers.line_blocks import Result
from headscope.text.readers.rows import DEFAULT_COLUMN, document_of_item


class ItemSource:
    """The items of an iterable; Hugging Face datasets are iterables of rows. An iterator can be read once."""

    def __init__(self, items: Iterable[Any], column: str | None = None, origin: dict[str, Any] | None = None) -> None:
        """`origin` is what a manifest says of them, where they have been read from elsewhere."""
        if isinstance(items, Mapping):
            keys = ", ".join(map(str, list(items)[:5]))
            raise InputError(f"This is a {type(items).__name__} of {keys}: choose one, as in dataset['train'].")
        if hasattr(items, "columns"):
            raise InputError(f"A {type(items).__name__} goes by columns: give one of them, as in frame['text'].")
        if isinstance(items, (str, bytes)) or not (hasattr(items, "__iter__") or hasattr(items, "__getitem__")):
            raise InputError(f"A corpus is files or an iterable of documents, not {type(items).__name__}.")
        self.items = items
        self.column = column or DEFAULT_COLUMN
        self.origin = origin
        self._only_once = isinstance(items, Iterator)
        self._begun = False
        self._digest: str | None = None

    def read(self) -> Iterator[Result]:
        if self._only_once and self._begun:
            raise InputError("This corpus was given as an iterator, which can be read once: give a list, or files.")
        self._begun = True
        digest = hashlib.sha256()
        for number, item in enumerate(self.items, 1):
            try:
                document = document_of_item(item, self.column, f"item {number}")
            except InputError as error:
                yield ReadingError.at(f"item {number}", error)
                continue
            if document is not None:
                values = [getattr(document, field.name) for field in fields(document)]
                digest.update(json.dumps(values, default=_as_list).encode())
                yield document
        self._digest = digest.hexdigest()

    def fingerprint(self) -> str:
        """sha256 over the documents as read; of an iterator, it is known once it has been read to its end."""
        if self._digest is None:
            if self._only_once:
                raise InputError("This corpus was given as an iterator: its fingerprint is known after it has been read.")
            for _ in self.read():
                pass
        assert self._digest is not None
        return self._digest

    def describe(self) -> dict[str, Any]:
        return self.origin or {"items": type(self.items).__name__, "column": self.column}


def _as_list(thing: Any) -> list[Any]:
    return [sorted(thing.sure), sorted(thing.possible)] if isinstance(thing, Links) else list(thing)
