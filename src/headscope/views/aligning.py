"""Two sequences of tokens or words side by side: which stand for each other, and which only one of them has."""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

Pair = tuple[int | None, int | None]  # places in the first and in the second; None: it has nothing there


def align(
    first: Sequence[Any], second: Sequence[Any], may_replace: Callable[[Any, Any], bool] = lambda one, other: True
) -> list[Pair]:
    """Every item of both, in the order of both. What is alike is a pair, and what stands in the place of as many others is
    paired with them one by one, if it `may_replace` them; all else is alone, what was left out before what was put in.

    >>> align("the keys are".split(), "the key is".split())
    [(0, 0), (1, 1), (2, 2)]
    >>> align("a very old cat".split(), "a cat sleeps".split())
    [(0, 0), (1, None), (2, None), (3, 1), (None, 2)]
    """
    pairs: list[Pair] = []
    for here, there in _blocks(first, second):
        both = list(zip(here, there, strict=False))
        if len(here) == len(there) and all(may_replace(first[one], second[other]) for one, other in both):
            pairs += both
        else:
            pairs += [(one, None) for one in here]
            pairs += [(None, other) for other in there]
    return pairs


def _blocks(first: Sequence[Any], second: Sequence[Any]) -> Iterator[tuple[range, range]]:
    """Parts of both that are alike, and those between them. difflib prefers one of its two where several matches are as
    good: it always gets them in the same order, so that exchanging the two exchanges every pair."""
    turned = list(second) < list(first)
    one, other = (second, first) if turned else (first, second)
    for _, start, stop, other_start, other_stop in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        here, there = range(start, stop), range(other_start, other_stop)
        yield (there, here) if turned else (here, there)
