"""The tables of the league: each number against each effect, how reliable the effects are, and each head's own numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headscope.later import pd
from headscope.league.correlations import FEWEST, Ranked, given_layer, spearman, within_layers
from headscope.league.counted import Counted
from headscope.league.numbers import NUMBERS
from headscope.lens.head import HEAD
from headscope.statistics.base import Array, ratio
from headscope.statistics.kit.resampling import resampled, small_sample_tail

SPLITS = 100  # of the texts into halves
ALL = "all"
KINDS = ("rho", "within", "partial")


@dataclass(frozen=True)
class Row:
    """What is compared with what, of which heads."""

    scope: str  # "all", or "decoder cross"
    places: NDArray[np.int64]  # of its heads
    how: str
    effect: str
    number: str


def rows_of(counted: Counted, numbers: Mapping[str, Mapping[str, Array]]) -> list[Row]:
    """By scope, way and effect, every number that is known of at least three of its heads."""
    return [
        Row(scope, np.array([place for place in places if np.isfinite(numbers[way][name][place])]), way, effect, name)
        for scope, places in scopes(counted).items()
        for way in counted.ways
        for effect in counted.effect_names
        for name in NUMBERS
        if name in numbers[way] and np.isfinite(numbers[way][name][places]).sum() >= FEWEST
    ]


def scopes(counted: Counted) -> dict[str, NDArray[np.int64]]:
    """The places of all heads, and of those of each kind of attention where a model has several."""
    kinds = [f"{head.stack} {head.kind}" for head in counted.heads]
    found = {ALL: np.arange(len(kinds))}
    if len(set(kinds)) > 1:
        found |= {kind: np.flatnonzero(np.array(kinds) == kind) for kind in dict.fromkeys(kinds)}
    return found


def standings(counted: Counted) -> pd.DataFrame:
    """A row for each number and effect: rho over all heads, within layers, given the layer, and with other texts."""
    rows = rows_of(counted, known_numbers(counted))
    found = _correlations(counted, rows, counted.sums(np.ones((1, counted.groups))))
    low = high = {name: np.full((len(rows),), np.nan) for name in KINDS}
    other = np.full(len(rows), np.nan)
    if counted.groups > 1:
        tail = small_sample_tail(counted.groups)
        drawn = resampled(counted.parts, lambda sums: _correlations(counted, rows, sums), tail=tail)
        low, high = ({name: drawn[name][end] for name in KINDS} for end in (0, 1))
        one, rest = halves(counted.groups)
        other = _across(counted, rows, counted.sums(one), counted.sums(rest))
    columns: dict[str, object] = {
        "scope": [row.scope for row in rows],
        "how": [row.how for row in rows],
        "effect": [row.effect for row in rows],
        "number": [row.number for row in rows],
        "heads": [len(row.places) for row in rows],
    }
    for name in KINDS:
        columns |= {name: found[name][0], f"{name}_low": low[name], f"{name}_high": high[name]}
    return pd.DataFrame(columns).assign(other_texts=other)


def known_numbers(counted: Counted) -> dict[str, dict[str, Array]]:
    """By way, all numbers of all texts together: (head,) each."""
    sums = counted.sums(np.ones((1, counted.groups)))
    numbers = counted.numbers(sums)
    return {
        way: {name: values[0] for name, values in {**numbers, **counted.estimates(sums, way)}.items()}
        for way in counted.ways
    }


def known_effects(counted: Counted) -> dict[str, dict[str, Array]]:
    """By way, all effects over all texts together: (head,) each."""
    sums = counted.sums(np.ones((1, counted.groups)))
    return {way: {name: values[0] for name, values in counted.effects(sums, way).items()} for way in counted.ways}


def heads_table(counted: Counted) -> pd.DataFrame:
    """A row a head and way: every number and effect, which the correlations are of."""
    numbers, effects = known_numbers(counted), known_effects(counted)
    labels = pd.DataFrame(counted.heads, columns=HEAD).astype({"layer": "Int64", "head": "Int64"})
    frames = [
        labels.assign(how=way, **effects[way], **{name: numbers[way][name] for name in NUMBERS if name in numbers[way]})
        for way in counted.ways
    ]
    return pd.concat(frames, ignore_index=True)


def reliability(counted: Counted) -> pd.DataFrame:
    """A row an effect and scope: how alike two halves of the texts rank heads, and what that means for all of them.

    `halves` is the mean rho between the effects of two random halves, over a hundred splits; `reliability` is what
    Spearman and Brown's formula, 2 r / (1 + r), makes of it for all texts; `ceiling` its square root, which a number
    without any error of its own, that ranks heads as endless texts would, is expected to have with the effect.
    """
    rows = []
    if counted.groups > 1:
        one, other = (counted.sums(half) for half in halves(counted.groups))
        for scope, places in scopes(counted).items():
            for way in counted.ways:
                effects, again = counted.effects(one, way), counted.effects(other, way)
                for name in counted.effect_names:
                    rho = float(_mean(spearman(*(Ranked(some[name][..., places]) for some in (effects, again)))))
                    whole = 2 * rho / (1 + rho) if rho > 0 else 0.0
                    rows.append((scope, way, name, len(places), counted.documents, rho, whole, whole**0.5))
    columns = ["scope", "how", "effect", "heads", "texts", "halves", "reliability", "ceiling"]
    return pd.DataFrame(rows, columns=columns)


def stability(counted: Counted) -> pd.DataFrame:
    """How alike two disjoint sets of texts rank heads, by how many texts each has: when more texts change little."""
    rows = []
    size, sizes = counted.documents / counted.groups, [1]
    while 2 * sizes[-1] <= counted.groups // 2:
        sizes.append(2 * sizes[-1])
    for groups in sizes if counted.groups > 1 else ():
        one, other = (counted.sums(some) for some in _disjoint(counted.groups, groups))
        for way in counted.ways:
            effects, again = counted.effects(one, way), counted.effects(other, way)
            for name in counted.effect_names:
                rho = float(_mean(spearman(Ranked(effects[name]), Ranked(again[name]))))
                rows.append((way, name, round(groups * size), rho))
    return pd.DataFrame(rows, columns=["how", "effect", "texts", "rho"])


def halves(groups: int) -> tuple[Array, Array]:
    """Two halves of the groups, a hundred times: (split, group) each, 1 where a group is in it."""
    return _disjoint(groups, groups // 2)


def _disjoint(groups: int, size: int) -> tuple[Array, Array]:
    """Two sets of `size` groups each that have none in common; two halves have one group more where it is odd."""
    random = np.random.default_rng(0)
    places = np.array([random.permutation(groups) for _ in range(SPLITS)])
    rest = places < 2 * size if 2 * size < groups - 1 else places < groups
    one = places < size
    return one.astype(float), (rest & ~one).astype(float)


def _correlations(counted: Counted, rows: Sequence[Row], sums: Mapping[str, Array]) -> dict[str, Array]:
    """(draw, row) each."""
    return _compared(counted, rows, sums, sums, KINDS)


def _across(counted: Counted, rows: Sequence[Row], one: Mapping[str, Array], other: Mapping[str, Array]) -> Array:
    """(row,): rho of the numbers of one half with the effects of the other, both ways round, over all splits."""
    found = [_compared(counted, rows, *pair, ("rho",))["rho"] for pair in ((one, other), (other, one))]
    return _mean(np.concatenate(found))


def _mean(found: Array) -> Array:
    """Over the first dimension, of what is a number."""
    counted = np.isfinite(found)
    return ratio(np.where(counted, found, 0).sum(0), counted.sum(0).astype(float))


def _compared(
    counted: Counted, rows: Sequence[Row], of: Mapping[str, Array], with_: Mapping[str, Array], kinds: Sequence[str]
) -> dict[str, Array]:
    """The numbers of some texts with the effects of some, the same or others: (draw, row) each."""
    plain = counted.numbers(of)
    numbers = {way: {**plain, **counted.estimates(of, way)} for way in counted.ways}
    effects = {way: counted.effects(with_, way) for way in counted.ways}
    layers = np.array(counted.layers)
    ranked: dict[tuple[str, bytes, int], Ranked] = {}

    def ranks(name: str, values: Array, row: Row) -> Ranked:
        """Once, for all rows that have the same array and heads."""
        key = (name, row.places.tobytes(), id(values))
        if key not in ranked:
            ranked[key] = Ranked(values[..., row.places], layers[row.places].tolist())
        return ranked[key]

    found: dict[str, list[Array]] = {kind: [] for kind in kinds}
    for row in rows:
        one = ranks(row.number, numbers[row.how][row.number], row)
        other = ranks(row.effect, effects[row.how][row.effect], row)
        for kind in kinds:
            found[kind].append(_CORRELATIONS[kind](one, other))
    return {kind: np.stack(some, -1) for kind, some in found.items()}


_CORRELATIONS = {"rho": spearman, "within": within_layers, "partial": given_layer}
