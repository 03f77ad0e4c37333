"""Cached: what keeps the values that are computed from it, by the function that computes them and its arguments."""

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

Given = ParamSpec("Given")
Value = TypeVar("Value")


class Cached:
    """A block, a side of a batch, a batch: something that does not change, and from which much follows.

    >>> def longer(thing: Cached, by: int) -> list[int]: return [by]
    >>> thing = Cached()
    >>> thing.cached(longer, 1) is thing.cached(longer, 1), thing.cached(longer, 2)
    (True, [2])
    """

    def cached(
        self, function: Callable[Concatenate[Self, Given], Value], *arguments: Given.args, **named: Given.kwargs
    ) -> Value:
        """function(self, *arguments), computed at the first call with these arguments.

        All that the value depends on is in the key, so a function that closes over variables is not told apart by them:
        it is a new function every time, and is computed every time.
        """
        kept: dict[Any, Value] = self.__dict__.setdefault("_cached", {})
        key = (function, arguments, *sorted(named.items()))
        if key not in kept:
            kept[key] = function(self, *arguments, **named)
        return kept[key]
