"""Pieces: a text, and where each of its tokens stands in it. A pair of tokens that attend to each other is marked there."""

from collections.abc import Sequence
from typing import NamedTuple, Self

from headscope.lens.tokens.encoding import Encoded, TokenSequence
from headscope.lens.tokens.labels import readable


class Pieces(NamedTuple):
    """A text, and the span of every token in it.

    >>> Pieces("it saw her", [(0, 2), (2, 6), (6, 10)]).label(2)
    'her'
    """

    text: str
    spans: Sequence[tuple[int, int]]

    @classmethod
    def of_tokens(cls, sequence: TokenSequence) -> Self:
        """Tokens whose places in a text are not known, with a space between words; special ones have no place in it."""
        text, spans = "", []
        before: int | None = None
        for token, word, special in zip(readable(sequence.tokens), sequence.word_of, sequence.special, strict=True):
            begins = word is None or word != before
            shown = "" if special else token if begins else token.removeprefix("##")
            text += " " if text and shown and begins else ""
            spans.append((len(text), len(text) + len(shown)))
            text, before = text + shown, word
        return cls(text, spans)

    @classmethod
    def of_source(cls, encoded: Encoded) -> Self:
        """The text as it is written, both parts of a pair in one line."""
        document, sequence = encoded.document, encoded.source
        if not sequence.spans:
            return cls.of_tokens(sequence)
        first = document.text if document.text is not None else document.text_and_spans()[0]
        second = document.pair or " ".join(document.pair_words or ())
        moved = [len(first) + 1 if segment else 0 for segment in sequence.segments]
        spans = [(start + by, stop + by) for (start, stop), by in zip(sequence.spans, moved, strict=True)]
        return cls(f"{first} {second}" if second else first, spans)

    def span(self, token: int) -> tuple[int, int]:
        """Where a token stands, without the space that some begin with."""
        start, stop = self.spans[token]
        return start + len(self.text[start:stop]) - len(self.text[start:stop].lstrip()), stop

    def label(self, token: int) -> str:
        """The token as it stands in the text; empty for one that is nothing but space."""
        start, stop = self.span(token)
        return self.text[start:stop].rstrip()


def sides(encoded: Encoded, stack: str, kind: str) -> tuple[Pieces, Pieces]:
    """What attends and what is attended to, at one kind of attention: the same unless a target looks at its source."""
    if stack == "encoder" or encoded.target is None:
        source = Pieces.of_source(encoded)
        return source, source
    target = Pieces.of_tokens(encoded.target)
    return target, target if kind == "self" else Pieces.of_source(encoded)
