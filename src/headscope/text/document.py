"""Document: one input of the model, as text or as words, with what belongs to it and what is annotated on its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from headscope.errors import InputError
from headscope.text.in_notebook import document_html
from headscope.text.layers import check_layers
from headscope.text.links import Links
from headscope.text.mention import Mention
from headscope.text.natural_text import Multiword, Span, natural_text


@dataclass(frozen=True)
class Document:
    """A text, or a list of words; with a second segment (`pair`) or a translation (`target`) where there is one.

    Everything after `name`, but for `context`, is a layer on `words`, and None where it is not known.

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
    name: str = ""  # where it comes from: its own id, or its file and line
    _: KW_ONLY
    spaces: Sequence[bool] | None = None  # does a space follow the word
    tags: Sequence[str] | None = None  # universal parts of speech (UPOS)
    fine_tags: Sequence[str] | None = None  # the treebank's own (XPOS)
    parents: Sequence[int] | None = None  # index of the syntactic head among the words, -1 for a root
    relations: Sequence[str] | None = None  # of the word to its head
    sentences: Sequence[Span] | None = None  # (start, stop) in words
    mentions: Sequence[Mention] | None = None
    multiwords: Sequence[Multiword] | None = None  # words that are written as one
    alignment: Links | None = None  # gold links between words and target_words
    context: int = 0  # how many of its first words are there to be read only: nothing is judged on them

    def __post_init__(self) -> None:
        _check_one_form("text", self.text, self.words, needed=True)
        _check_one_form("pair", self.pair, self.pair_words)
        _check_one_form("target", self.target, self.target_words)
        check_layers(self)

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

    def _repr_html_(self) -> str:
        return document_html(self)

    def text_and_spans(self) -> tuple[str, list[Span]]:
        """The words as natural text, and the character span of each; without `spaces`, one space between any two.

        >>> Document(words=["Stop", "!"], spaces=[False, True]).text_and_spans()
        ('Stop!', [(0, 4), (4, 5)])
        """
        if self.words is None:
            raise InputError(f"The document {self.name or self.text!r} has no words: annotate it, or give words=[...].")
        return natural_text(self.words, self.spaces, self.multiwords or ())


def _check_one_form(name: str, text: str | None, words: Sequence[str] | None, needed: bool = False) -> None:
    if text is not None and words is not None:
        raise InputError(f"Give the {name} as a string or as words, not both.")
    if text is not None and not isinstance(text, str):
        raise InputError(f"The {name} must be a string, not {type(text).__name__}.")
    if isinstance(words, str):
        raise InputError(f"The {name}'s words must be a list of strings, not one string.")
    if needed and text is None and words is None:
        raise InputError("There is no text: give a string, or words=[...].")
    if text is not None and not text.strip():
        raise InputError(f"The {name} is empty: there is nothing to read.")
    if words is not None and (not words or not all(isinstance(word, str) and word.strip() for word in words)):
        raise InputError(f"The {name}'s words are empty, or one of them is: there is nothing to read.")
    _check_characters(name, text if text is not None else "".join(words or ()))


def _check_characters(name: str, text: str) -> None:
    """No half of a surrogate pair: JSON can write one, and every tokenizer fails on it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"The {name} holds half a character, {text[error.start]!a}, which is no text: "
            "write the character whole, or leave it out."
        ) from None
