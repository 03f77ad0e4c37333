"""Document: one input of the model, as text or as words, with what belongs to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headscope.errors import InputError


@dataclass(frozen=True)
class Document:
    """A text, or a list of words; with a second segment (`pair`) or a translation (`target`) where there is one.

    >>> Document("A text.").pair is None
    True
    >>> Document(words=["Pre-split", "words"]).text is None
    True
    """

    text: str | None = None
    pair: str | None = None
    target: str | None = None
    words: Sequence[str] | None = None
    pair_words: Sequence[str] | None = None
    target_words: Sequence[str] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        _check_one_form("text", self.text, self.words, needed=True)
        _check_one_form("pair", self.pair, self.pair_words)
        _check_one_form("target", self.target, self.target_words)

    @classmethod
    def of(cls, given: Any) -> Document:
        """A document from what people pass: a document, a string, a pair of strings, or a list of words.

        >>> Document.of(("one", "two")).pair
        'two'
        >>> Document.of(["two", "words"]).words
        ['two', 'words']
        """
        if isinstance(given, Document):
            return given
        if isinstance(given, str):
            return cls(given)
        if isinstance(given, tuple) and len(given) == 2 and all(isinstance(part, str) for part in given):
            return cls(given[0], pair=given[1])
        if isinstance(given, list) and all(isinstance(word, str) for word in given):
            return cls(words=given)
        raise InputError(
            f"A document must be a string, a pair (tuple of two strings), a list of words or a Document, "
            f"not {type(given).__name__}."
        )


def _check_one_form(name: str, text: str | None, words: Sequence[str] | None, needed: bool = False) -> None:
    if text is not None and words is not None:
        raise InputError(f"Give the {name} as a string or as words, not both.")
    if isinstance(words, str):
        raise InputError(f"The {name}'s words must be a list of strings, not one string.")
    if needed and text is None and words is None:
        raise InputError("There is no text: give a string, or words=[...].")
    if text is not None and not text.strip():
        raise InputError(f"The {name} is empty: there is nothing to read.")
    if words is not None and (not words or not all(isinstance(word, str) and word.strip() for word in words)):
        raise InputError(f"The {name}'s words are empty, or one of them is: there is nothing to read.")
