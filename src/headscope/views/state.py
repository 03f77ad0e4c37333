"""State: what of a content is shown, and how. The same words are a page's address fragment and a figure's settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import quote

from headscope.errors import InputError
from headscope.views.content import Content

VIEWS = ("head", "model", "neuron", "matrix")
PAIRS = ("all", "aa", "ab", "ba", "bb")  # from the first (a) or second (b) text of a pair to the first or second
UNITS = ("pieces", "words")


@dataclass(frozen=True)
class State:
    """Every choice that a reader of a page can make. The defaults are what a page opens with."""

    view: str = "head"
    attention: str = ""  # "encoder self", "decoder cross", ...; empty: the first that there is
    layer: int | None = None  # None: the first that there is
    heads: tuple[int, ...] | None = None  # the model's own numbers; None: all in the head view, the first elsewhere
    measure: str = "weight"
    unit: str = "pieces"
    pairs: str = "all"
    least: float = 0.0  # scores below this part of the largest are not drawn
    top: int = 0  # only so many scores of each token that attends; 0: all
    special: bool = True  # False hides special tokens, and the share that is hidden is said
    keep: tuple[str, ...] = ()  # tokens that stay chosen: "q3" attends, "k5" is attended to
    compare: str = ""  # the matrix: a second measure beside the first, and their difference
    sort: str = ""  # the model view: a statistic to sort heads by
    above: float | None = None  # the model view: only heads whose statistic is at least this
    theme: str = ""  # "light", "dark"; empty: as the system is set

    def fragment(self) -> str:
        """The choices that differ from the defaults, as they stand behind # in a page's address.

        >>> State(view="matrix", layer=3, heads=(0, 4), special=False).fragment()
        'view=matrix&layer=3&heads=0,4&special=0'
        """
        usual = State()
        return "&".join(
            f"{field.name}={_written(getattr(self, field.name))}"
            for field in fields(self)
            if getattr(self, field.name) != getattr(usual, field.name)
        )

    def fitted(self, content: Content) -> State:
        """The same with nothing left open, or a sentence about what the content does not have."""
        _one_of(self.view, VIEWS, "view")
        _one_of(self.unit, UNITS, "unit")
        _one_of(self.pairs, PAIRS, "pairs")
        group = self.attention or content.groups[0]
        _one_of(group, content.groups, "attention")
        here = content.of_group(group)
        layers = {attention.layer: attention for attention in here}
        layer = next(iter(layers)) if self.layer is None else self.layer
        _one_of(layer, list(layers), "layer")
        for head in self.heads or ():
            _one_of(head, layers[layer].heads, "head")
        for name in filter(None, (self.measure, self.compare)):
            _one_of(name, list(layers[layer].scores), "measure")
        return replace(self, attention=group, layer=layer)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return ",".join(str(item) for item in value)
    return quote(str(value), safe="")


def _one_of(value: object, choices: Sequence[object], what: str) -> None:
    if value not in choices:
        raise InputError(f"There is no {what} {value!r}: choose one of {', '.join(str(choice) for choice in choices)}.")
