"""Mention: a span of words that refers to someone or something, and the cluster of those that refer to the same."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

Kind = Literal["PRON", "NOM", "PROP"]
KINDS: tuple[Kind, ...] = ("PRON", "NOM", "PROP")  # pronoun, common noun phrase, proper name


class Mention(NamedTuple):
    """Words `start` to `stop` (exclusive) of a document; a mention that corefers with nothing has a cluster of its own."""

    start: int
    stop: int
    cluster: str
    kind: Kind | None = None


def in_order(mentions: Sequence[Mention]) -> list[Mention]:
    """Mentions as a reader meets them: by their first word, the shorter of two first."""
    return sorted(mentions, key=lambda mention: (mention.start, mention.stop))
