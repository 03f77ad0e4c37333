"""Tokens as people read them: no tokenizer's marks, and something to see for spaces and control characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache

_SIGNS = {"\n": "⏎", "\t": "⇥", "\r": "␍"}
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"  # they shape their neighbours (Persian, emoji), and stay where there are some
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"  # letters by their category that leave nothing on paper
# Format marks that are seen.
_PRINTED = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"


def readable(tokens: Sequence[str]) -> list[str]:
    """A text's tokens as people read them.

    Byte-level tokenizers write every byte as a letter, and mark a space by Ġ; SentencePiece marks it by ▁. A token
    that holds a part of a character stays as the tokenizer writes it.

    >>> readable(["ĠcafÃ©", "Ġ", "s"])
    ['café', '␣', 's']
    >>> readable(["▁chat", "▁dor", "t", "</s>"])
    ['chat', 'dor', 't', '</s>']
    >>> readable(["[CLS]", "play", "##ing"])
    ['[CLS]', 'play', '##ing']
    """
    in_bytes = any("Ġ" in token or "Ċ" in token for token in tokens)
    return [visible(_decoded(token) if in_bytes else token.replace("▁", " ")) for token in tokens]


def visible(text: str) -> str:
    """The text without spaces around it, and with a sign for what could not be seen.

    >>> visible(" the"), visible(" "), visible("a\\x00b"), visible("\\u202eabc"), visible("\\u200b")
    ('the', '␣', 'a␀b', '<U+202E>abc', '<U+200B>')
    """
    shown = text.strip(" ")
    if not shown:
        return "␣" * max(1, len(text))
    if all(character in _JOINERS for character in shown):
        return "".join(_code(character) for character in shown)
    return "".join(_sign(character) for character in shown)


def _sign(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character == " " or character in _JOINERS or character in _PRINTED:
        return character
    kind = unicodedata.category(character)
    if kind == "Zs":
        return "␣"
    if kind == "Cc" and ord(character) < 0x20:
        return chr(0x2400 + ord(character))
    # Format marks (Cf) are not seen, and some turn the text around them: a token's neighbours would be turned too.
    return _code(character) if kind in ("Cc", "Cf", "Cs", "Zl", "Zp") or character in _BLANK else character


def _code(character: str) -> str:
    return f"<U+{ord(character):04X}>"


def _decoded(token: str) -> str:
    try:
        return bytes(_bytes()[character] for character in token).decode()
    except (KeyError, UnicodeDecodeError):
        return token


@cache
def _bytes() -> dict[str, int]:
    """The byte that each letter of byte-level tokenizers stands for."""
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    return {character: byte for byte, character in bytes_to_unicode().items()}
