"""A token of a model's vocabulary, as people name it: by its text, as the tokenizer writes it, or by its number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headscope.errors import InputError
from headscope.lens.tokens.encoding import pieces_of, token_names

if TYPE_CHECKING:
    from headscope.lens.lens import Lens


@dataclass(frozen=True)
class Token:
    """A token of the vocabulary."""

    id: int
    text: str  # as it stands in a text: " Mary"

    def __str__(self) -> str:
        return repr(self.text)


def token_of(lens: Lens, name: str | int, size: int) -> Token:
    """The one token that a text is, in a vocabulary of `size` tokens."""
    tokenizer: Any = lens.tokenizer
    if tokenizer is None:
        raise InputError("This lens has no tokenizer: open it with headscope.open(model, tokenizer).")
    if isinstance(name, int):
        if not 0 <= name < size:
            raise InputError(f"There is no token {name}: the vocabulary of {lens.name} has {size:,}.")
        return named(lens, name)
    tries = [pieces_of(tokenizer, text, lens.is_encoder_decoder) for text in dict.fromkeys((name, name.strip())) if text]
    unknown = getattr(tokenizer, "unk_token_id", None)
    for pieces in tries:
        if len(pieces) == 1 and pieces[0] != unknown:
            return named(lens, pieces[0])
    written = tokenizer.get_vocab().get(name)
    if written is not None:
        return named(lens, written)
    if not tries or not tries[0] or tries[0] == [unknown]:
        raise InputError(f"{name!r} is no token of {lens.name}: give a word of its vocabulary, or a token's number.")
    names = token_names(tokenizer, tries[0])
    raise InputError(
        f"{name!r} is {len(names)} tokens for {lens.name} ({', '.join(names)}): give a single one, such as {names[0]!r}; "
        "words inside a text often begin with a space."
    )


def named(lens: Lens, number: int) -> Token:
    """A token by its number. A piece that is no text by itself is called as the tokenizer writes it."""
    text = lens.tokenizer.decode([number], clean_up_tokenization_spaces=False)
    written = token_names(lens.tokenizer, [number])[0]
    if written.startswith("▁") and not text.startswith(" "):
        text = f" {text}"
    return Token(number, text if text and "\ufffd" not in text else written)
