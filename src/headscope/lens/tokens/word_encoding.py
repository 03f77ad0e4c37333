"""Words tokenised one by one, so that every piece's word is certain: for alignments, and as the papers' code does."""

from collections.abc import Sequence
from typing import Any

from headscope.errors import InputError
from headscope.lens.tokens.encoding import TokenSequence, check_length, pieces_of


def encode_words(
    tokenizer: Any,
    words: Sequence[str],
    *,
    target: bool = False,
    max_tokens: int | None = None,
    truncate: bool = False,
) -> TokenSequence:
    """The pieces of each word, one after another, between the special tokens that the tokenizer puts around a text."""
    before, after = frame(tokenizer, target)
    space = " " if _needs_space(tokenizer, target) else ""
    by_word = [pieces_of(tokenizer, (space if place else "") + word, target) for place, word in enumerate(words)]
    if not any(by_word):
        raise InputError("The tokenizer makes no token of this text: there is nothing to read.")
    room = max(max_tokens - len(before) - len(after), 0) if truncate and max_tokens is not None else None
    ids = [*before, *[piece for pieces in by_word for piece in pieces][:room], *after]
    check_length(len(ids), max_tokens)
    inside = [word for word, pieces in enumerate(by_word) for _ in pieces][:room]
    word_of = [*[None] * len(before), *inside, *[None] * len(after)]
    return TokenSequence.of_pieces(tokenizer, ids, words, word_of, [word is None for word in word_of])


def frame(tokenizer: Any, target: bool) -> tuple[list[int], list[int]]:
    """The special tokens before and after a text."""
    call = {"text_target" if target else "text": "a"}
    whole = list(tokenizer(**call, verbose=False)["input_ids"])
    inside = pieces_of(tokenizer, "a", target)
    for start in range(len(whole) - len(inside) + 1):
        if whole[start : start + len(inside)] == inside:
            return whole[:start], whole[start + len(inside) :]
    return [], []


def _needs_space(tokenizer: Any, target: bool) -> bool:
    """Whether a word after another is not tokenised as it is alone: byte-level pieces begin with their space."""
    alone = pieces_of(tokenizer, "a", target)
    return pieces_of(tokenizer, "a a", target) != [*alone, *alone]
