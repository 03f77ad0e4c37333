"""Rows with named columns, and anything else that people iterate over in Python, as documents."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headscope.errors import InputError
from headscope.text.document import Document

DEFAULT_COLUMN = "text"


def document_of_row(row: Mapping[str, Any], column: str, name: str) -> Document | None:
    """The text, or the list of words, in one column of a row; None where it is empty, as a blank line is.

    >>> document_of_row({"label": 1, "text": "A text."}, "text", "").text
    'A text.'
    >>> document_of_row({"tokens": ["Two", "words"]}, "tokens", "").words
    ['Two', 'words']
    """
    if column not in row:
        there = ", ".join(repr(key) for key in list(row)[:10]) or "no column at all"
        raise InputError(f"There is no column {column!r}, but {there}: choose one with column=.")
    return document_of_value(row[column], column, name)


def document_of_value(value: Any, column: str, name: str) -> Document | None:
    """The document that one cell of a column holds."""
    if isinstance(value, str):
        return Document(value, name=name) if value.strip() else None
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return Document(words=value, name=name) if value else None
    found = "a list of other things" if isinstance(value, list) else type(value).__name__
    raise InputError(f"The column {column!r} must hold a text or a list of words, not {found}: choose one with column=.")


def document_of_item(item: Any, column: str, name: str) -> Document | None:
    """The document of one item of an iterable: a row, a string, or what Document.of takes."""
    if isinstance(item, Mapping):
        return document_of_row(item, column, name)
    if isinstance(item, str):
        return Document(item, name=name) if item.strip() else None
    document = Document.of(item)
    return document if document.name else replace(document, name=name)
