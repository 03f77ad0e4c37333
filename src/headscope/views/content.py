"""Content: what a view draws, as plain arrays. It knows of no model: a reading, or arrays of your own, become one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from headscope.errors import InputError
from headscope.lens.tokens.labels import visible
from headscope.study.run_by_head import HeadStatistic

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Side:
    """The tokens of one text: those that attend, or those that are attended to."""

    tokens: list[str]  # as people read them
    raw: list[str]  # as the tokenizer writes them
    special: list[bool]
    words: list[str]  # a special token is a word of its own
    word_of: list[int]  # which of `words` each token belongs to
    segments: list[int]  # 1 for the second text of a pair

    @classmethod
    def plain(cls, tokens: Sequence[str], special: Sequence[bool] | None = None) -> Self:
        """Tokens of which nothing else is known: each is a word of its own.

        >>> Side.plain(["the", "cat"]).word_of
        [0, 1]
        """
        raw = [str(token) for token in tokens]
        if special is not None and len(special) != len(raw):
            raise InputError(f"special= says of {len(special)} tokens whether they are special, but there are {len(raw)}.")
        shown, count = [visible(token) for token in raw], len(raw)
        return cls(shown, raw, list(special or [False] * count), shown, list(range(count)), [0] * count)

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

    @property
    def group(self) -> str:
        """`encoder self`: attentions that are shown together, layer by layer."""
        return f"{self.stack} {self.kind}"


@dataclass(frozen=True)
class Content:
    """Everything that one page or figure shows."""

    title: str
    sides: dict[str, Side]
    attentions: list[Attention]
    statistics: list[HeadStatistic] = field(default_factory=list)
    model: str = ""  # what people call it; empty where arrays of one's own are drawn

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
