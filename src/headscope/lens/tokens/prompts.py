"""Prompts: a text that holds a source and its translation, word by word, for a decoder-only model to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headscope.errors import InputError
from headscope.lens.tokens.encoding import Encoded, TokenSequence, check_length, pieces_of
from headscope.lens.tokens.word_encoding import encode_words, frame
from headscope.text import Document

if TYPE_CHECKING:
    from headscope.lens.tokens.encoder import Encoder

SOURCE, TARGET = "{source}", "{target}"
TEMPLATE = f"Translate French to English.\nFrench: {SOURCE}\nEnglish: {TARGET}"


@dataclass(frozen=True)
class Prompt:
    """A text with a place for the source and, after it, one for the target. Other braces are text.

    >>> Prompt("{source} = {target}").parts
    ('', ' = ', '')
    """

    template: str = TEMPLATE

    def __post_init__(self) -> None:
        counts = [self.template.count(place) for place in (SOURCE, TARGET)]
        if counts != [1, 1] or self.template.index(SOURCE) > self.template.index(TARGET):
            raise InputError(
                f"A prompt has {SOURCE} once and {TARGET} once after it, for a decoder looks back: {self.template[:80]!r}."
            )

    @classmethod
    def chat(cls, tokenizer: Any, request: str = f"Translate French to English: {SOURCE}") -> Prompt:
        """The request in the form in which an instruction-tuned model was trained, and the target as its answer."""
        if not getattr(tokenizer, "chat_template", None):
            raise InputError("This tokenizer has no chat template: write the prompt as a template of your own.")
        message = [{"role": "user", "content": request}]
        return cls(tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True) + TARGET)

    @property
    def parts(self) -> tuple[str, str, str]:
        """What stands before the source, between the two, and after the target."""
        before, rest = self.template.split(SOURCE)
        between, after = rest.split(TARGET)
        return before, between, after

    def encode(self, encoder: Encoder, document: Document, max_tokens: int | None, truncate: bool) -> Encoded:
        return Encoded(document, self.sequence(encoder.tokenizer, document, max_tokens))

    def sequence(self, tokenizer: Any, document: Document, max_tokens: int | None = None) -> TokenSequence:
        """The prompt for one sentence pair, each word by itself: `words` are those of the source, then of the target."""
        if document.words is None or document.target_words is None:
            raise InputError("A pair for a prompt needs words on both sides.")
        before, between, after = self.parts
        pieces = [
            *_fixed(tokenizer, before),
            *_words(tokenizer, before, document.words, 0),
            *_fixed(tokenizer, between),
            *_words(tokenizer, between, document.target_words, len(document.words)),
            *_fixed(tokenizer, after),
        ]
        start, _ = frame(tokenizer, target=False)
        if [piece for piece, _ in pieces[: len(start)]] != start:  # a chat template writes these out itself
            pieces = [*((piece, None) for piece in start), *pieces]
        ids, word_of = [piece for piece, _ in pieces], [word for _, word in pieces]
        check_length(len(ids), max_tokens)
        known, words = set(tokenizer.all_special_ids), [*document.words, *document.target_words]
        special = [piece in known and word is None for piece, word in pieces]
        return TokenSequence.of_pieces(tokenizer, ids, words, word_of, special)

    def describe(self) -> dict[str, Any]:
        return {"prompt": self.template}


Pieces = list[tuple[int, int | None]]  # each with its word, None in what the template says


def _fixed(tokenizer: Any, text: str) -> Pieces:
    """The template's own text; a space at its end is the next word's."""
    text = text.removesuffix(" ")
    return [(piece, None) for piece in pieces_of(tokenizer, text, False)] if text else []


def _words(tokenizer: Any, before: str, words: Sequence[str], first: int) -> Pieces:
    """Words numbered from `first`. After a space, the first is tokenised as any later one: as if a word stood before it."""
    alone = encode_words(tokenizer, ["a", *words] if before.endswith(" ") else words)
    shift = first - before.endswith(" ")
    inside = [(piece, word) for piece, word in zip(alone.ids, alone.word_of, strict=True) if word is not None]
    return [(piece, word + shift) for piece, word in inside if word + shift >= first]
