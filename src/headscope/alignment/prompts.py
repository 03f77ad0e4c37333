"""Word alignments out of a decoder-only model: a prompt holds the source and its translation, self attention links them.

A row of the target looks back at the words of the source. Only these are candidates: the first token of a decoder takes
most of the attention wherever there is nothing to look for, and as 'no link' it would win nearly every time. So every
target word gets a link, and AER is not to be compared with that of a model that can decline. AWI reads the row in which
a target piece is input, AWO the row before, which predicts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headscope.alignment.choice import Choice
from headscope.alignment.linking import choose_words, link_encoded
from headscope.errors import InputError
from headscope.lens.encoding import TokenSequence, check_length, pieces_of
from headscope.lens.lens import Encoded, Lens
from headscope.lens.word_encoding import encode_words, frame
from headscope.text import Document
from headscope.text.links import Pair

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

    def encode(self, tokenizer: Any, document: Document, limit: int | None = None) -> Encoded:
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
        check_length(len(ids), limit)
        special = set(tokenizer.all_special_ids)
        sequence = TokenSequence(
            ids=ids,
            tokens=[str(token) for token in tokenizer.convert_ids_to_tokens(ids)],
            words=[*document.words, *document.target_words],
            word_of=word_of,
            special=[piece in special and word is None for piece, word in pieces],
            segments=[0] * len(ids),
        )
        return Encoded(document, sequence)


def link_prompts(
    lens: Lens, documents: Sequence[Document], choice: Choice, prompt: Prompt | None = None, batch_size: int = 16
) -> list[frozenset[Pair]]:
    """The links (source word, target word) of each document, by the self attention that `choice` names."""
    _check(lens, choice)
    encoded = [encode_prompt(lens, document, prompt or Prompt()) for document in documents]
    return link_encoded(lens, encoded, lambda batch: choose_words(lens, batch, choice), batch_size)


def encode_prompt(lens: Lens, document: Document, prompt: Prompt) -> Encoded:
    """A sentence pair in a prompt, as tokens."""
    if lens.tokenizer is None:
        raise InputError("This lens has no tokenizer: open it with headscope.open(model, tokenizer).")
    try:
        return prompt.encode(lens.tokenizer, document, lens.limit)
    except InputError as error:
        raise InputError(f"{document.name or 'A pair'}: {error}") from error


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


def _check(lens: Lens, choice: Choice) -> None:
    if any(site.stack != "decoder" or site.kind != "self" for site in lens.sites):
        raise InputError(f"{lens.name} is not a decoder-only model, so it reads no prompt; an encoder-decoder needs none.")
    heads = {site.layer: site.heads for site in lens.sites}
    if choice.layer not in heads or (choice.head or 0) not in range(heads[choice.layer]):
        raise InputError(f"{lens.name} has no {choice.label}: it has the layers {min(heads)} to {max(heads)}.")
