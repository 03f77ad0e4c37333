"""Which word each piece of a tokenizer belongs to, and scores merged from pieces to words.

A piece belongs to the word in which its first non-space character lies. Attention to a word is the
sum over its pieces, attention from it the mean (clark2019, section 4.1).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from headscope.later import Tensor, torch

Span = tuple[int, int]

# A word keeps its apostrophes, hyphens and decimal points; any other mark is a word of its own.
_WORD = re.compile(r"\w+(?:[.,'’\-]\w+)*|[^\w\s]")


def word_spans(text: str) -> list[Span]:
    """The words of a plain text, as character spans.

    >>> text = "Don't stop, 3.5 times!"
    >>> [text[start:stop] for start, stop in word_spans(text)]
    ["Don't", 'stop', ',', '3.5', 'times', '!']
    """
    return [match.span() for match in _WORD.finditer(text)]


def words_of_pieces(pieces: Sequence[Span], words: Sequence[Span], text: str) -> list[int | None]:
    """The index of each piece's word; None for a piece that is only space or lies in no word."""
    word_at = {position: index for index, word in enumerate(words) for position in range(*word)}
    found: list[int | None] = []
    for start, stop in pieces:
        first = next((position for position in range(start, stop) if not text[position].isspace()), None)
        found.append(None if first is None else word_at.get(first))
    return found


def piece_spans(text: str, pieces: Sequence[str]) -> list[Span]:
    """Where the pieces of a slow tokenizer stand in the text it was given.

    The text is compared letter by letter without case, accents and compatibility forms. A piece that
    cannot be found (an unknown character) takes what stands before the next piece that can.

    >>> piece_spans("J’aime ça", ["▁J", "<unk>", "aime", "▁ca"])
    [(0, 1), (1, 2), (2, 6), (7, 9)]
    """
    letters = [(plain, at) for at, character in enumerate(text) for plain in _plain(character)]
    plain_text = "".join(letter for letter, _ in letters)
    spans: list[Span | None] = []
    cursor = 0
    for piece in pieces:
        surface = "".join(_plain(character) for character in _surface(piece))
        start = plain_text.find(surface, cursor) if surface else -1
        # Far ahead means another occurrence: an unknown piece stands for a few characters only.
        if start < 0 or start - cursor > 2 * len(surface) + 16:
            spans.append(None)
            continue
        cursor = start + len(surface)
        spans.append((letters[start][1], letters[cursor - 1][1] + 1))
    return _fill_gaps(spans, text)


def _fill_gaps(spans: list[Span | None], text: str) -> list[Span]:
    """Pieces without a span share what lies between their neighbours, one non-space character each, the last the rest."""
    filled: list[Span] = []
    for index, span in enumerate(spans):
        if span is not None:
            filled.append(span)
            continue
        start = filled[-1][1] if filled else 0
        while start < len(text) and text[start].isspace():
            start += 1
        following = next((later for later in spans[index + 1 :] if later is not None), (len(text), 0))
        last = index + 1 == len(spans) or spans[index + 1] is not None
        stop = following[0] if last else min(start + 1, following[0])
        if last:
            stop = max(start, start + len(text[start:stop].rstrip()))
        filled.append((min(start, stop), stop))
    return filled


def _surface(piece: str) -> str:
    """A piece without its tokenizer's marks: ▁word, ##piece, piece@@, word</w>."""
    piece = piece.removeprefix("##").removesuffix("@@").removesuffix("</w>")
    return piece.replace("▁", "").replace("Ġ", "")


def _plain(character: str) -> str:
    decomposed = unicodedata.normalize("NFKD", character).casefold()
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter) and not letter.isspace())


def merge_keys(scores: Tensor, groups: Sequence[Sequence[int]]) -> Tensor:
    """Sum over the pieces attended to: (..., key) -> (..., group)."""
    return scores @ _membership(groups, scores.shape[-1]).to(scores)


def merge_rows(scores: Tensor, groups: Sequence[Sequence[int]]) -> Tensor:
    """Mean over the pieces attending: (..., row, key) -> (..., group, key)."""
    members = _membership(groups, scores.shape[-2]).to(scores)
    return (members / members.sum(0).clamp(min=1)).T @ scores


def _membership(groups: Sequence[Sequence[int]], length: int) -> Tensor:
    members = torch.zeros(length, len(groups))
    for group, pieces in enumerate(groups):
        members[list(pieces), group] = 1
    return members
