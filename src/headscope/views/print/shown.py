"""What of one attention is shown: its heads, tokens and scores after every choice of the state, and what that hides."""

from dataclasses import dataclass, replace
from typing import Self, get_args

import numpy as np
from numpy.typing import NDArray

from headscope.errors import InputError
from headscope.lens.reading import Level
from headscope.measures import MEASURES
from headscope.views.content import Array, Attention, Content, Side
from headscope.views.joint_maps import End, Of, in_both, maps_of
from headscope.views.schema import Change
from headscope.views.state import State

Mask = NDArray[np.bool_]
NAMED = 4  # sinks that a figure names
APART = "B − A"


@dataclass(frozen=True)
class Tokens:
    """The tokens (or words) of one side that are shown."""

    labels: list[str]
    places: list[int]  # their numbers among all of the side
    kept: Mask  # which of them were chosen to stay
    changes: list[Change]  # from one text to another, where two are compared; else nothing

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
    totals: Array  # head query: the sum of each row before anything was hidden, without signs
    on_sinks: Array  # head query: the part of it that goes to sinks, which are not shown; 0 where they are
    sinks: str  # which these are, in words
    renormalised: bool  # whether each score is a part of what its row gives beyond sinks
    which: str = ""  # of two that are compared: "A", "B" or "B − A"

    @property
    def difference(self) -> bool:
        """Whether the scores are those of one text less those of another."""
        return self.which == APART

    @property
    def name(self) -> str:
        """The measure as it is written in a sentence, and of which of two."""
        return f"{self.measure.replace('_', ' ')} {self.which}".strip()

    @property
    def hidden(self) -> float:
        """The share of what the tokens shown give that goes to sinks, which are not."""
        return float(self.on_sinks.sum() / (self.totals.sum() or 1))

    @property
    def hidden_of_rows(self) -> Array:
        """(query,): the same for each of them."""
        totals = self.totals.sum(0)
        return np.asarray(self.on_sinks.sum(0) / np.where(totals > 0, totals, 1), dtype=np.float32)

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
        """Each score as a part of its row, hidden ones included: what makes weights and norms comparable. Renormalised ones
        are parts of what is left.

        Rows of a signed measure are divided by the sum without signs, since the sum itself may be near zero.
        """
        if self.renormalised:
            return self.scores
        return np.asarray(self.scores / np.where(self.totals > 0, self.totals, 1)[..., None], dtype=np.float32)

    @property
    def signed(self) -> bool:
        """Is anything below zero, and not by rounding only? A difference has signs in any case."""
        return self.difference or bool(self.scores.min(initial=0) < -1e-5 * np.abs(self.scores).max(initial=0))

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
        name = self.measure.replace("_", " ")
        return [hidden_said(f"of the {name}", self.hidden, self.sinks, self.renormalised)] if self.hidden > 0 else []

    def less(self, other: Self, rows: Mask, state: State) -> Self:
        """These scores less others between the same tokens; nothing in rows (query, all of them) that are not in both."""
        scores = np.where(rows[self.queries.places][:, None], self.scores - other.scores, np.float32(0))
        drawn, totals = choose(scores, state.top, state.least), self.totals + other.totals
        on_sinks = self.on_sinks + other.on_sinks
        return replace(self, scores=scores, drawn=drawn, totals=totals, on_sinks=on_sinks, which=APART)


def attention_of(content: Content, state: State) -> Attention:
    """The attention that a fitted state names."""
    return next(found for found in content.of_group(state.attention) if found.layer == state.layer)


def is_joint(attention: Attention, measure: str) -> bool:
    """Whether the measure has one map for all heads of the layer, however many of them are here."""
    return (measure in MEASURES and MEASURES[measure].joint) or len(attention.scores[measure]) < len(attention.heads)


def shown(content: Content, state: State, attention: Attention, heads: list[int] | None = None, measure: str = "") -> Shown:
    """The choices of a fitted state, applied. `heads` are the model's numbers; None: all that are here.

    Of a difference each of the two by itself, and then one less the other: what is hidden is hidden in both.
    """
    joined = content.sides[attention.query].joint
    if joined is None or state.of:
        return _shown(content, state, attention, heads, measure, state.of)
    a, b = (_shown(content, state, attention, heads, measure, end) for end in get_args(End))
    return b.less(a, in_both(joined, state.level), state)


def _shown(content: Content, state: State, attention: Attention, heads: list[int] | None, measure: str, of: Of) -> Shown:
    name = measure or state.measure
    joint = is_joint(attention, name)
    places = [0] if joint else [attention.heads.index(head) for head in heads or attention.heads]
    scores = maps_of(content, attention, name, places, state.level, of)
    sides = content.sides[attention.query], content.sides[attention.key]
    left, kept = tokens_left(content, state, attention, state.level), state.kept()
    queries, keys = (_tokens(side, state, left[end], kept[end]) for end, side in enumerate(sides))
    if not len(queries) or not len(keys):
        raise InputError(nothing_left(state))
    rows = scores[:, queries.places]
    sizes, sinks = np.abs(rows), sinks_hidden(content, state, attention, state.level)
    totals, on_sinks = sizes.sum(-1), sizes[..., sinks].sum(-1)
    scores = rows[..., keys.places]
    if renormalised := state.sinks == "renormalised":
        scores = scores / left_of(sizes, sinks)
    drawn = choose(scores, state.top, state.least)
    said, which = sinks_said(content, attention, state.level), of.upper()
    return Shown(attention, places, name, joint, queries, keys, scores, drawn, totals, on_sinks, said, renormalised, which)


def left_of(sizes: Array, sinks: Mask) -> Array:
    """(..., key), (key,) -> (..., 1): what goes beyond sinks; 1 where nothing does, since it is to divide by.

    >>> left_of(np.array([[0.5, 0.2, 0.3], [1.0, 0.0, 0.0]]), np.array([True, False, False])).tolist()
    [[0.5], [1.0]]
    """
    left = sizes[..., ~sinks].sum(-1, keepdims=True)
    return np.where(left > 0, left, 1)


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


def _tokens(side: Side, state: State, left: Mask, kept: list[int]) -> Tokens:
    """Those of one side that are shown."""
    places = np.flatnonzero(left).tolist()
    labels, changes = labels_in(side, state.level, state.of), changes_of(side, state.level)
    named = [labels[place] for place in places]
    return Tokens(named, places, np.isin(places, kept), [changes[place] for place in places])


def labels_in(side: Side, level: Level, of: Of) -> list[str]:
    """The labels, of two texts as one of them has them, if it does."""
    labels = labels_of(side, level)
    if side.joint is None or not of:
        return labels
    origin = side.joint.a if of == "a" else side.joint.b
    own = origin.words if level == "word" else origin.tokens
    return [mine or label for mine, label in zip(own, labels, strict=True)]


def changes_of(side: Side, level: Level) -> list[Change]:
    """What became of each token or word; nothing where there is one text."""
    if side.joint is None:
        return [""] * len(labels_of(side, level))
    return side.joint.words if level == "word" else side.joint.tokens


def labels_of(side: Side, level: Level) -> list[str]:
    return side.tokens if level == "token" else side.words


def tokens_left(content: Content, state: State, attention: Attention, level: Level) -> tuple[Mask, Mask]:
    """Which tokens that attend, and which that are attended to, are shown: by their text of a pair, and without sinks."""
    beyond = content.beyond_sinks(attention, level)
    found = []
    for end, (name, left) in enumerate(zip((attention.query, attention.key), beyond, strict=True)):
        segments = _segments(content.sides[name], level)
        of_text = np.ones(len(segments), dtype=bool) if state.pairs == "all" else segments == "ab".index(state.pairs[end])
        found.append(of_text & np.array(left, dtype=bool) if state.without_sinks else of_text)
    return found[0], found[1]


def sinks_hidden(content: Content, state: State, attention: Attention, level: Level) -> Mask:
    """(key,): the sinks that are not shown."""
    sinks = np.array(content.sinks_of(attention, level), dtype=bool)
    return sinks if state.without_sinks else np.zeros_like(sinks)


def sinks_said(content: Content, attention: Attention, level: Level) -> str:
    """Which tokens sinks are, in words: those that are special are known as such, of others the first are named."""
    side, sinks = content.sides[attention.key], content.sinks_of(attention, level)
    marks = zip(labels_of(side, level), sinks, side.specials(level), strict=True)
    others = list(dict.fromkeys(label for label, sink, special in marks if sink and not special))
    if not others:
        return "special tokens"
    return f"sinks ({', '.join(others[:NAMED])}{', …' if len(others) > NAMED else ''})"


def hidden_said(of_what: str, share: float, sinks: str, renormalised: bool = False) -> str:
    """What is not shown.

    >>> hidden_said("of the weight", 0.74, "sinks (The, ,)", renormalised=True)
    '74% of the weight is on sinks (The, ,), not shown; what is left of each row is shown as shares of it.'
    """
    percent = f"{100 * share:.0f}%" if share >= 0.005 else "Less than 1%"
    rest = "; what is left of each row is shown as shares of it" if renormalised else ""
    return f"{percent} {of_what} is on {sinks}, not shown{rest}."


def nothing_left(state: State) -> str:
    """What is said where no token is left to draw."""
    if state.pairs != "all":
        return f"There is nothing for pairs={state.pairs!r} here: this is no pair of texts, or all of it is hidden."
    return "All tokens here are sinks, and sinks are hidden: show them (without_sinks=False, --with-sinks)."


def _segments(side: Side, level: Level) -> NDArray[np.int64]:
    """Of which text of a pair each token is; a word is where its first piece is."""
    segments = np.array(side.segments, dtype=np.int64)
    return segments if level == "token" else segments[np.unique(side.word_of, return_index=True)[1]]
