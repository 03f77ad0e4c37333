"""Heads taken away in each number's order, those first that it calls idle: what is lost, against the share that is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headscope.later import pd
from headscope.league.numbers import NUMBERS
from headscope.lens.head import HEAD, Head
from headscope.statistics.base import Array
from headscope.study.run import Run

SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
RANDOM = "random"  # "random 1", "random 2", ...
IDLE = 0.2  # of the heads: those that a number calls idle
BEARABLE = {"loss": 0.1, "states": 0.01}  # nats a token; 1 - cos


@dataclass(frozen=True)
class Orders:
    """By name, the heads in the order in which they go: of each number, of the effects themselves, and by lot."""

    by_name: Mapping[str, Sequence[Head]]

    @classmethod
    def of(
        cls, heads: Sequence[Head], numbers: Mapping[str, Array], effects: Mapping[str, Array], drawn: int, seed: int = 0
    ) -> Orders:
        """A number that some head does not have gives no order. The effects' orders are named `effect kl`, ..."""
        ordered = {name: idle_first(numbers[name], NUMBERS[name].idle) for name in NUMBERS if name in numbers}
        ordered |= {f"effect {name}": idle_first(values) for name, values in effects.items()}
        found = {name: order for name, order in ordered.items() if order is not None}
        random = np.random.default_rng(seed)
        found |= {f"{RANDOM} {place + 1}": random.permutation(len(heads)) for place in range(drawn)}
        return cls({name: [heads[place] for place in order] for name, order in found.items()})

    def steps(self) -> list[tuple[str, int, frozenset[Head]]]:
        """Order, how many are gone, and which."""
        return [
            (name, count, frozenset(order[:count]))
            for name, order in self.by_name.items()
            for count in counts_of(len(order))
        ]

    def sets(self) -> list[str]:
        """Each set once, as `ablate` takes them: several orders may come to the same."""
        return list(dict.fromkeys(_named(heads) for _, _, heads in self.steps()))

    def table(self, run: Run) -> pd.DataFrame:
        """A row an order and step, with what `ablate` found in `run`."""
        known = run["ablation_sets"].set_index("heads")
        steps = self.steps()
        found = known.loc[[", ".join(head.name for head in sorted(heads)) for *_, heads in steps]].reset_index(drop=True)
        effects = [name for name in ("loss", "kl", "states", "pooled") if name in found]
        every = [len(self.by_name[name]) for name, *_ in steps]
        labels = pd.DataFrame([step[:2] for step in steps], columns=["order", "gone"])
        return labels.assign(share=labels["gone"] / every, **{name: found[name].to_numpy() for name in effects})


def idle_first(values: Array, idle: str = "low") -> NDArray[np.int64] | None:
    """The places of heads, those first that are idle by this number; ties as they stand. None where one is unknown."""
    if not np.isfinite(values).all():
        return None
    return np.argsort(values if idle == "low" else -values, kind="stable")


def counts_of(heads: int) -> list[int]:
    """How many heads are gone at each step.

    >>> counts_of(4), counts_of(72)
    ([1, 2, 3, 4], [4, 7, 11, 14, 22, 29, 36, 43, 58, 72])
    """
    return sorted({max(1, round(share * heads)) for share in SHARES})


def _named(heads: frozenset[Head]) -> str:
    return ", ".join(head.name for head in sorted(heads))


def orders_table(curves: pd.DataFrame, bearable: float) -> pd.DataFrame:
    """A row an order: the area under its curve, that against random orders, and the share that can go at a stated loss.

    The area is the mean loss over all shares from 0 to 1, by straight lines between the steps. `within` is the largest share
    up to which the loss stays below `bearable`, likewise. `random` is the mean of the random orders, beside their extremes.
    """
    main = "loss" if "loss" in curves else "states"
    found = [(name, *_of_curve(some["share"], some[main], bearable)) for name, some in curves.groupby("order", sort=False)]
    table = pd.DataFrame(found, columns=["order", "area", "within"])
    drawn = table[table["order"].str.startswith(f"{RANDOM} ")]
    table = table.drop(drawn.index)
    if len(drawn):
        mean, low, high = (getattr(drawn["area"], name)() for name in ("mean", "min", "max"))
        one = pd.DataFrame({"order": [RANDOM], "area": [mean], "within": [drawn["within"].mean()]})
        table = pd.concat([table, one], ignore_index=True)
        table = table.assign(against_random=table["area"] / mean, random_low=low, random_high=high)
    return table.assign(effect=main, bearable=bearable).sort_values("area", kind="stable").reset_index(drop=True)


def _of_curve(shares: Sequence[float], losses: Sequence[float], bearable: float) -> tuple[float, float]:
    """
    >>> _of_curve([0.5, 1.0], [1.0, 3.0], 0.5)
    (1.25, 0.25)
    """
    x, y = np.array([0.0, *shares]), np.array([0.0, *losses])
    area = float(((y[1:] + y[:-1]) / 2 * np.diff(x)).sum())
    above = np.flatnonzero(y > bearable)
    if not len(above):
        return area, 1.0
    last = above[0]
    part = (bearable - y[last - 1]) / (y[last] - y[last - 1])
    return area, float(x[last - 1] + part * (x[last] - x[last - 1]))


def idle_table(heads: Sequence[Head], numbers: Mapping[str, Array], effect: Array, name: str) -> pd.DataFrame:
    """A row a head that some number calls idle (a fifth of all heads each): how many do, and what happens without it."""
    most = max(1, round(IDLE * len(heads)))
    orders = {number: idle_first(numbers[number], NUMBERS[number].idle) for number in NUMBERS if number in numbers}
    by: dict[int, list[str]] = {}
    for number, order in orders.items():
        for place in () if order is None else order[:most]:
            by.setdefault(int(place), []).append(number)
    rank = {int(place): at for at, place in enumerate(np.argsort(effect, kind="stable"))}
    known = sum(order is not None for order in orders.values())
    rows = [
        (*heads[place], len(said), known, ", ".join(said), effect[place], rank[place] + 1, rank[place] < most)
        for place, said in sorted(by.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
    columns = [*HEAD, "idle_by", "numbers", "by", name, "rank_from_below", "idle_by_effect"]
    return pd.DataFrame(rows, columns=columns).astype({"layer": "Int64", "head": "Int64"})
