"""State: what of a content is shown, and how. The same words are a page's address fragment and a figure's settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self, get_args
from urllib.parse import quote

from headscope.errors import InputError
from headscope.lens.reading import Level
from headscope.lens.sinks import check_sinks
from headscope.views.content import Attention, Content
from headscope.views.joint_maps import Of

Pairs = Literal["all", "aa", "ab", "ba", "bb"]  # from the first (a) or second (b) text of a pair to the first or second
Sinks = Literal["", "shown", "hidden", "renormalised"]  # empty: hidden in causal self attention, shown elsewhere
Scale = Literal["linear", "row", "log"]  # of a matrix's colours: of all scores, of each row by itself, by powers of ten
Small = Literal["", "lines", "maps"]  # how the model view draws a head; empty: lines for short texts
Theme = Literal["", "light", "dark"]


@dataclass(frozen=True)
class State:
    """Every choice that a reader of a page can make. The defaults are what a page opens with."""

    view: str = "head"
    attention: str = ""  # "encoder self", "decoder cross", ...; empty: cross attention where it is, else the first
    layer: int | None = None  # none: where the heads are that say most about the text
    heads: tuple[int, ...] | None = None  # the model's own numbers; none: all, without a layer those that say most
    measure: str = "weight"
    level: Level = "token"
    pairs: Pairs = "all"
    least: float = 0.0  # scores below this part of the largest are not drawn
    top: int = 0  # only so many scores of each token that attends; 0: all
    sinks: Sinks = ""  # hidden: what is left by itself, or each row of it to a sum of 1; the share that is hidden is said
    keep: tuple[str, ...] = ()  # tokens that stay chosen: "q3" attends, "k5" is attended to
    compare: str = ""  # the matrix: a second measure beside the first, and their difference
    of: Of = ""  # of a difference: B less A, A alone, or B alone
    scale: Scale = "linear"  # the matrix: what the darkest colour stands for
    small: Small = ""  # the model view: heads as lines or as maps
    sort: str = ""  # the model view: a statistic to sort heads by
    above: float | None = None  # the model view: only heads whose statistic is at least this
    theme: Theme = ""  # empty: as the system is set

    def fragment(self) -> str:
        """The choices that differ from the defaults, as they stand behind # in a page's address.

        >>> State(view="matrix", layer=3, heads=(0, 4), sinks="hidden").fragment()
        'view=matrix&layer=3&heads=0,4&sinks=hidden'
        """
        chosen = {
            field.name: getattr(self, field.name) for field in fields(self) if getattr(self, field.name) != field.default
        }
        return "&".join(f"{name}={_written(value)}" for name, value in chosen.items())

    @property
    def without_sinks(self) -> bool:
        """Whether a state that is fitted leaves them out."""
        return self.sinks in ("hidden", "renormalised")

    def kept(self) -> tuple[list[int], list[int]]:
        """The numbers of the tokens that stay chosen: those that attend, those that are attended to.

        >>> State(keep=("q3", "k5", "q0")).kept()
        ([3, 0], [5])
        """
        found: dict[str, list[int]] = {"q": [], "k": []}
        for name in self.keep:
            if name[:1] not in found or not name[1:].isdecimal():
                raise InputError(
                    f"{name!r} names no token to keep: write q0 for the first that attends, k0 for the first attended to."
                )
            found[name[0]].append(int(name[1:]))
        return found["q"], found["k"]

    def fitted(self, content: Content) -> Self:
        """The same with nothing left open, or a sentence about what the content does not have."""
        _one_of(self.view, list(VIEWS), "view")
        _one_of(self.level, get_args(Level), "level")
        _one_of(self.pairs, get_args(Pairs), "pairs")
        group = content.group_named(self.attention or "cross")
        group = group if self.attention or group in content.groups else next(iter(content.groups), "")
        _one_of(group, content.groups, "attention")
        layers = {attention.layer: attention for attention in content.of_group(group)}
        layer, heads = self.layer, self.heads
        if layer is None:
            layer, telling = content.opening(group) or (next(iter(layers)), None)
            if heads is None and telling is not None:
                heads = tuple(telling if self.view == "head" else telling[:1])
        _one_of(layer, list(layers), "layer")
        for head in heads or ():
            _one_of(head, layers[layer].heads, "head")
        for name in filter(None, (self.measure, self.compare)):
            _one_of(name, list(layers[layer].scores), "measure")
        _one_of(self.scale, get_args(Scale), "scale")
        _one_of(self.small, get_args(Small), "small picture")
        _one_of(self.theme, get_args(Theme), "theme")
        self._check_difference(content)
        if self.sort:
            content.statistic(self.sort)
        for letter, side, places in zip("qk", (layers[layer].query, layers[layer].key), self.kept(), strict=True):
            count = len(content.sides[side].words if self.level == "word" else content.sides[side].tokens)
            if places and max(places) >= count:
                raise InputError(f"There is no token {letter}{max(places)} to keep: the last is {letter}{count - 1}.")
        _one_of(self.sinks, get_args(Sinks), "choice of sinks")
        sinks = self.sinks or self._usual_sinks(content, layers[layer])
        return replace(self, attention=group, layer=layer, heads=heads, sinks=sinks)

    def _usual_sinks(self, content: Content, attention: Attention) -> Sinks:
        """Hidden in a causal attention, unless nothing would be left, or a token that is kept would not."""
        if not attention.is_causal:
            return "shown"
        left = content.beyond_sinks(attention, self.level)
        kept = [side[place] for side, places in zip(left, self.kept(), strict=True) for place in places]
        return "hidden" if all(map(any, left)) and all(kept) else "shown"

    def _check_difference(self, content: Content) -> None:
        """Choices that a difference alone has, and those that it has not."""
        _one_of(self.of, get_args(Of), "of")
        if content.compared is None:
            if self.of:
                raise InputError(f"of={self.of!r} is about the difference of two readings, and here is one: leave it out.")
        elif self.compare:
            raise InputError(
                f"A difference has A, B and B − A beside each other, and not {self.compare} too: leave compare out."
            )
        elif self.view == "neuron":
            raise InputError("A difference has no neuron view: take one of the two readings for it.")


def sinks_chosen(without: bool | None, renormalise: bool) -> Sinks:
    """A state's word for two choices of Python and the command line.

    >>> sinks_chosen(None, False), sinks_chosen(True, False), sinks_chosen(None, True)
    ('', 'hidden', 'renormalised')
    """
    check_sinks(without, renormalise)
    if renormalise:
        return "renormalised"
    return "" if without is None else "hidden" if without else "shown"


# By name, the height of its frame in a notebook, in pixels, until the page has said how high it is. Here, and not filled by
# the functions of views: who asks which there are may be first.
VIEWS = {"head": 620, "model": 720, "neuron": 620, "matrix": 720}


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return ",".join(str(item) for item in value)
    return quote(str(value), safe="")


def _one_of(value: object, choices: Sequence[object], what: str) -> None:
    if value not in choices:
        raise InputError(f"There is no {what} {value!r}: choose one of {', '.join(str(choice) for choice in choices)}.")
