"""Content: what a view draws, as plain arrays. It knows of no model: a reading, or arrays of your own, become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from headscope.errors import InputError
from headscope.lens.reading import Level
from headscope.lens.sinks import known_sinks, rows_left
from headscope.lens.telling import Telling, opening
from headscope.lens.tokens.labels import readable, visible
from headscope.study.run_by_head import HeadStatistic
from headscope.views.schema import Change

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Origin:
    """One of two texts, token by token of what both have together."""

    places: list[int | None]  # of each token among the text's own; None: it has none there
    tokens: list[str]  # as the text has them; empty where it has none
    words: list[str]


@dataclass(frozen=True)
class Joint:
    """Where the tokens of two texts come from that stand on one axis, and what became of each token and word."""

    a: Origin
    b: Origin
    tokens: list[Change]
    words: list[Change]


@dataclass(frozen=True)
class Side:
    """The tokens of one text: those that attend, or those that are attended to."""

    tokens: list[str]  # as people read them
    raw: list[str]  # as the tokenizer writes them
    special: list[bool]
    words: list[str]  # a special token is a word of its own
    word_of: list[int]  # which of `words` each token belongs to
    segments: list[int]  # 1 for the second text of a pair
    joint: Joint | None = None  # where these are the tokens of two texts together

    @classmethod
    def plain(
        cls, tokens: Sequence[str], special: Sequence[bool] | None = None, *, second: int | None = None, pretty: bool = False
    ) -> Self:
        """Tokens of which nothing else is known: each is a word of its own. The second of two texts begins at `second`;
        `pretty` ones are shown without a tokenizer's marks.

        >>> Side.plain(["the", "cat"]).word_of, Side.plain(["a", "Ġcat"], second=1, pretty=True).tokens
        ([0, 1], ['a', 'cat'])
        """
        raw = [str(token) for token in tokens]
        if special is not None and len(special) != len(raw):
            raise InputError(f"special= says of {len(special)} tokens whether they are special, but there are {len(raw)}.")
        if second is not None and not 0 < second < len(raw):
            raise InputError(f"sentence_b_start= is the place of a token after the first: not {second} of {len(raw)}.")
        shown, count = readable(raw) if pretty else [visible(token) for token in raw], len(raw)
        segments = [int(second is not None and place >= second) for place in range(count)]
        return cls(shown, raw, list(special or [False] * count), shown, list(range(count)), segments)

    def specials(self, level: Level) -> list[bool]:
        """Which tokens, or words, are special: a word is what its first piece is."""
        if level == "token":
            return self.special
        return [self.special[self.word_of.index(word)] for word in range(len(self.words))]

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True)
class Neurons:
    """Queries and keys as the model multiplies them, and what makes weights of their products."""

    queries: Array  # head query d_head
    keys: Array  # group key d_head: heads / groups heads share each
    scaling: float
    exact: bool  # softmax(scaling * q.k) over the visible keys is the weight
    why: str = ""  # where it is not: what stands between

    def __post_init__(self) -> None:
        if self.queries.shape[0] % self.keys.shape[0]:
            raise InputError(f"{self.queries.shape[0]} heads cannot share {self.keys.shape[0]} groups of keys evenly.")


@dataclass(frozen=True)
class Attention:
    """One attention of a model: scores by measure for some of its heads."""

    stack: str  # "encoder" | "decoder"
    kind: str  # "self" | "cross"
    layer: int
    heads: list[int]  # the model's own numbers of the heads that are here
    query: str  # which side attends: a key of Content.sides
    key: str
    scores: dict[str, Array]  # measure -> (head, query, key); (1, query, key) for joint measures
    value_norm: Array | None = None  # head key
    neurons: Neurons | None = None
    parked: list[bool] | None = None  # key: the sinks of this very layer, whose scores are kept on a scale of their own

    @property
    def group(self) -> str:
        """`encoder self`: attentions that are shown together, layer by layer."""
        return f"{self.stack} {self.kind}"

    @property
    def is_causal(self) -> bool:
        """Whether a query sees no later key: the self attention of a decoder."""
        return self.group == "decoder self"


@dataclass(frozen=True)
class Compared:
    """The two contents of which a difference is made: the same attentions, heads and measures, each with its own tokens."""

    a: Content
    b: Content
    notes: list[str] = field(default_factory=list)  # what only one of the two has


@dataclass(frozen=True)
class Content:
    """Everything that one page or figure shows."""

    title: str
    sides: dict[str, Side]
    attentions: list[Attention]
    statistics: list[HeadStatistic] = field(default_factory=list)
    model: str = ""  # what people call it; empty where arrays of one's own are drawn
    sinks: dict[str, list[bool]] = field(default_factory=dict)  # by group, which key tokens are (lens/sinks.py)
    compared: Compared | None = None  # where the scores are the differences of two contents
    telling: dict[str, list[Telling]] = field(default_factory=dict)  # by group, the heads that say most, best first
    roles: dict[str, str] = field(default_factory=dict)  # by `encoder self 3.1`, out of a run; else as `telling` has them

    def __post_init__(self) -> None:
        """Sinks that nobody has looked for are those of any text."""
        known = {one.group: known_sinks(self.sides[one.key].special, one.is_causal) for one in self.attentions}
        object.__setattr__(self, "sinks", known | self.sinks)

    def sinks_of(self, attention: Attention, level: Level) -> list[bool]:
        """Which tokens that are attended to, or words, are sinks: a word is one if a piece of it is."""
        sinks, side = self.sinks[attention.group], self.sides[attention.key]
        if level == "token":
            return sinks
        words = {word for word, sink in zip(side.word_of, sinks, strict=True) if sink}
        return [word in words for word in range(len(side.words))]

    def beyond_sinks(self, attention: Attention, level: Level) -> tuple[list[bool], list[bool]]:
        """Which tokens, or words, are left without sinks: of those that attend, and of those that are attended to."""
        sinks = self.sinks_of(attention, level)
        return rows_left(self.sides[attention.query].specials(level), sinks, attention.is_causal), [not one for one in sinks]

    def with_special_sinks(self) -> Self:
        """The same with special tokens as its only sinks, as clark2019 has it."""
        return replace(self, sinks={one.group: self.sides[one.key].special for one in self.attentions})

    def opening(self, group: str) -> tuple[int, list[int]] | None:
        """The layer and the heads that say most about the text, of those that are here; None where none does."""
        here = {(one.layer, head) for one in self.of_group(group) for head in one.heads}
        return opening([one for one in self.telling.get(group, ()) if (one.layer, one.head) in here])

    @property
    def groups(self) -> list[str]:
        """The kinds of attention here, in the model's order."""
        return list(dict.fromkeys(attention.group for attention in self.attentions))

    def group_named(self, attention: str) -> str:
        """`decoder cross` of `cross`: the first kind of attention that is meant. What is none of them stays as it is."""
        return next((group for group in self.groups if attention and f" {group}".endswith(f" {attention}")), attention)

    @property
    def measures(self) -> list[str]:
        """Every measure that some attention has."""
        return list(dict.fromkeys(name for attention in self.attentions for name in attention.scores))

    def statistic(self, name: str) -> HeadStatistic:
        """What heads are sorted by."""
        found = {statistic.name: statistic for statistic in reversed(self.statistics)}
        if name not in found:
            names = ", ".join(statistic.name for statistic in self.statistics) or "none, since no run was given"
            raise InputError(f"There is no statistic {name!r} to sort heads by: there are {names}.")
        return found[name]

    def of_group(self, group: str) -> list[Attention]:
        return [attention for attention in self.attentions if attention.group == group]

    def at(self, group: str, layer: int) -> Attention:
        """The attention of one layer."""
        return next(attention for attention in self.of_group(group) if attention.layer == layer)
