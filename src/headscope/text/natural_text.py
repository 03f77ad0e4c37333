"""The natural text of words, as their writer spaced and contracted them, and where each word stands in it."""

from collections.abc import Sequence
from typing import NamedTuple

Span = tuple[int, int]


class Multiword(NamedTuple):
    """Words `start` to `stop` (exclusive) that are written as one: French `de` + `le` as `du`."""

    start: int
    stop: int
    form: str


def natural_text(
    words: Sequence[str], spaces: Sequence[bool] | None = None, multiwords: Sequence[Multiword] = ()
) -> tuple[str, list[Span]]:
    """The text, and the character span of every word; without `spaces`, one space between any two.

    The words of a multiword token share its span, unless they are just its parts one after the other.

    >>> natural_text(["did", "n't", "go"], [True, True, True], [Multiword(0, 2, "didn't")])
    ("didn't go", [(0, 3), (3, 6), (7, 9)])
    >>> natural_text(["de", "le", "pain", "."], [True, True, False, False], [Multiword(0, 2, "du")])
    ('du pain.', [(0, 2), (0, 2), (3, 7), (7, 8)])
    """
    written_as = {multiword.start: multiword for multiword in multiwords}
    parts: list[str] = []
    spans: list[Span] = []
    index = at = 0
    while index < len(words):
        multiword = written_as.get(index) or Multiword(index, index + 1, words[index])
        spans += _spans(words[index : multiword.stop], multiword.form, at)
        index = multiword.stop
        space = " " if index < len(words) and (spaces is None or spaces[index - 1]) else ""
        parts += [multiword.form, space]
        at += len(multiword.form) + len(space)
    return "".join(parts), spans


def _spans(words: Sequence[str], form: str, at: int) -> list[Span]:
    if "".join(words) != form:
        return [(at, at + len(form))] * len(words)
    spans = []
    for word in words:
        spans.append((at, at + len(word)))
        at += len(word)
    return spans
