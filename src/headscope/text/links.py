"""Links: which words of a sentence and of its translation belong together, surely or possibly (Och and Ney, 2003)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Pair = tuple[int, int]  # (source word, target word), both from 0


@dataclass(frozen=True)
class Links:
    """The links of one sentence pair. What is sure is possible too.

    >>> Links(sure=frozenset({(0, 0)}), possible=frozenset({(1, 0)})).possible == {(0, 0), (1, 0)}
    True
    """

    sure: frozenset[Pair] = frozenset()
    possible: frozenset[Pair] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sure", frozenset(self.sure))
        object.__setattr__(self, "possible", frozenset(self.possible) | self.sure)

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> Links:
        """Links that are all sure, as an aligner finds them."""
        return cls(sure=frozenset(pairs))

    def flipped(self) -> Links:
        """The same links from the target to the source: those of the reverse direction.

        >>> Links.of([(0, 3)]).flipped() == Links.of([(3, 0)])
        True
        """
        return Links(flipped(self.sure), flipped(self.possible))


def flipped(pairs: Iterable[Pair]) -> frozenset[Pair]:
    """Each pair the other way round."""
    return frozenset((second, first) for first, second in pairs)
