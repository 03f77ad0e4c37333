"""What of one attention is shown: its heads, tokens and scores after every choice of the state, and what that hides."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from headscope.errors import InputError
from headscope.lens.reading import Level
from headscope.measures import MEASURES
from headscope.views.content import Array, Attention, Content, Side
from headscope.views.merging import merge_pieces
from headscope.views.state import State

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Tokens:
    """The tokens (or words) of one side that are shown."""

    labels: list[str]
    places: list[int]  # their numbers among all of the side
    kept: Mask  # which of them were chosen to stay

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Shown:
    """Scores of some heads between the tokens that are shown."""

    attention: Attention
    heads: list[int]  # places in attention.heads; [0] for all heads together
    measure: str
    joint: bool
    queries: Tokens
    keys: Tokens
    scores: Array  # head query key
    drawn: Mask  # head query key: not below the threshold, and among the top ones
    totals: Array  # head query: the sum of each row before anything was hidden
    hidden: float  # the share of what the tokens shown give that goes to special ones, which are not

    @property
    def largest(self) -> float:
        """The largest score that is drawn, without its sign."""
        return float(np.abs(self.scores).max(where=self.drawn, initial=0))

    @property
    def shares(self) -> Array:
        """Each score as a part of the largest that is drawn, without signs; 0 where it is not drawn."""
        return np.asarray(np.where(self.drawn, np.abs(self.scores), 0) / (self.largest or 1), dtype=np.float32)

    @property
    def of_rows(self) -> Array:
        """Each score as a part of its row, hidden ones included: what makes weights and norms comparable.

        Rows of a signed measure are divided by the sum without signs, since the sum itself may be near zero.
        """
        return np.asarray(self.scores / np.where(self.totals > 0, self.totals, 1)[..., None], dtype=np.float32)

    @property
    def signed(self) -> bool:
        """Is anything below zero, and not by rounding only?"""
        return bool(self.scores.min(initial=0) < -1e-5 * np.abs(self.scores).max(initial=0))

    @property
    def labels(self) -> list[str]:
        """`3.1` for each head."""
        if self.joint:
            return [f"layer {self.attention.layer}, all heads"]
        return [f"{self.attention.layer}.{self.attention.heads[place]}" for place in self.heads]

    def isolated(self) -> Self:
        """Only what goes from or to a kept token, where there is one."""
        if not self.queries.kept.any() and not self.keys.kept.any():
            return self
        return replace(self, drawn=self.drawn & (self.queries.kept[:, None] | self.keys.kept))

    def notes(self) -> list[str]:
        """What a reader of the figure must know."""
        percent = f"{100 * self.hidden:.0f}%" if self.hidden >= 0.005 else "Less than 1%"
        name = self.measure.replace("_", " ")
        return [f"{percent} of the {name} is on special tokens, not shown."] if self.hidden > 0 else []


def attention_of(content: Content, state: State) -> Attention:
    """The attention that a fitted state names."""
    return next(found for found in content.of_group(state.attention) if found.layer == state.layer)


def is_joint(attention: Attention, measure: str) -> bool:
    """Whether the measure has one map for all heads of the layer, however many of them are here."""
    return (measure in MEASURES and MEASURES[measure].joint) or len(attention.scores[measure]) < len(attention.heads)


def shown(content: Content, state: State, attention: Attention, heads: list[int] | None = None, measure: str = "") -> Shown:
    """The choices of a fitted state, applied. `heads` are the model's numbers; None: all that are here."""
    name = measure or state.measure
    joint = is_joint(attention, name)
    places = [0] if joint else [attention.heads.index(head) for head in heads or attention.heads]
    scores = attention.scores[name][places]
    sides = content.sides[attention.query], content.sides[attention.key]
    if state.level == "word":
        scores = merge_pieces(scores, sides[0].word_of, sides[1].word_of)
    queries, keys = (_tokens(state, side, end) for end, side in enumerate(sides))
    if not len(queries) or not len(keys):
        raise InputError(nothing_left(state))
    sizes = np.abs(scores[:, queries.places])
    hidden = 0.0 if state.special else float(sizes[..., labels_of(sides[1], state.level)[1]].sum() / (sizes.sum() or 1))
    scores = scores[:, queries.places][..., keys.places]
    drawn = choose(scores, state.top, state.least)
    return Shown(attention, places, name, joint, queries, keys, scores, drawn, sizes.sum(-1), hidden)


def choose(scores: Array, top: int = 0, least: float = 0.0) -> Mask:
    """(head, query, key): which scores are drawn: the top ones of their row, the first of several alike, and of these none
    below the part `least` of the largest.

    >>> choose(np.array([[[0.7, 0.3], [0.4, 0.6]]], dtype=np.float32), top=1).astype(int)
    array([[[1, 0],
            [0, 1]]])
    """
    sizes = np.abs(scores)
    chosen = (sizes > 0) & (sizes >= least * sizes.max(initial=0))
    if top:
        first = np.zeros_like(chosen)
        np.put_along_axis(first, np.argsort(-sizes, axis=-1, kind="stable")[..., :top], True, -1)
        chosen &= first
    return chosen


def _tokens(state: State, side: Side, end: int) -> Tokens:
    """Those of one side that are shown; `end` 0 attends, 1 is attended to."""
    labels, special, segments = labels_of(side, state.level)
    places = np.flatnonzero(tokens_left(state, special, segments, end)).tolist()
    return Tokens([labels[place] for place in places], places, np.isin(places, state.kept()[end]))


def labels_of(side: Side, level: Level) -> tuple[list[str], Mask, NDArray[np.int64]]:
    """Labels, which are special, and of which text of a pair; a word is what its first piece is."""
    special, segments = np.array(side.special, dtype=bool), np.array(side.segments, dtype=np.int64)
    if level == "token":
        return side.tokens, special, segments
    _, firsts = np.unique(side.word_of, return_index=True)
    return side.words, special[firsts], segments[firsts]


def tokens_left(state: State, special: Mask, segments: NDArray[np.int64], end: int) -> Mask:
    """Which tokens of a side are shown, by its text of a pair and what is hidden; `end` 0 attends, 1 is attended to."""
    of_text = np.ones(len(segments), dtype=bool) if state.pairs == "all" else segments == "ab".index(state.pairs[end])
    return of_text if state.special else of_text & ~special


def nothing_left(state: State) -> str:
    """What is said where no token is left to draw."""
    if state.pairs != "all":
        return f"There is nothing for pairs={state.pairs!r} here: this is no pair of texts, or all of it is hidden."
    return "All tokens here are special, and special ones are hidden: show them."
