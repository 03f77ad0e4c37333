"""Tokens as people read them: no tokenizer's marks, and something to see for spaces and control characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from transformers.convert_slow_tokenizer import bytes_to_unicode

_BYTES = {character: byte for byte, character in bytes_to_unicode().items()}
_SPACES = {"\n": "⏎", "\t": "⇥", " ": "␣", "\r": "␍", "\u3000": "␣", "\xa0": "␣"}


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

    >>> visible(" the"), visible(" "), visible("a\\x00b"), visible("\\u202eabc")
    ('the', '␣', 'a␀b', '<U+202E>abc')
    """
    shown = text.strip(" ")
    if not shown:
        return "␣" * max(1, len(text))
    return "".join(_sign(character) for character in shown)


def _sign(character: str) -> str:
    if character in _SPACES and character != " ":
        return _SPACES[character]
    kind = unicodedata.category(character)
    if kind == "Cc":
        return chr(0x2400 + ord(character)) if ord(character) < 0x20 else f"<U+{ord(character):04X}>"
    if kind == "Cs" or unicodedata.bidirectional(character) in _DIRECTIONS:
        return f"<U+{ord(character):04X}>"
    return character


# Marks that turn the text around them: a token with one of them would turn its neighbours too.
_DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def _decoded(token: str) -> str:
    try:
        return bytes(_BYTES[character] for character in token).decode()
    except (KeyError, UnicodeDecodeError):
        return token
