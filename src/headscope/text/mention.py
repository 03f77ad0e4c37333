"""Mention: a span of words that refers to someone or something, and the cluster of those that refer to the same."""

from collections import Counter
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


def with_antecedent(mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions whose cluster has an earlier mention.

    >>> ann, her, bob = Mention(0, 1, "Ann"), Mention(4, 5, "Ann"), Mention(2, 3, "Bob")
    >>> with_antecedent([her, bob, ann]) == [her]
    True
    """
    seen: Counter[str] = Counter()
    found = []
    for mention in in_order(mentions):
        if seen[mention.cluster]:
            found.append(mention)
        seen[mention.cluster] += 1
    return found
