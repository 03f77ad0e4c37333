"""What a statistic is: sums over blocks that can be merged in any order, and the numbers that follow from them.

A statistic declares its fields (arrays, most often with one entry per head), adds to them in `update`, and computes
its columns from them in `columns`. Merging, the state file and confidence intervals need no code of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from torch import Tensor

from headscope.errors import InputError
from headscope.lens.site import Site
from headscope.measures import MEASURES

Array = NDArray[np.float64]
Fields = Mapping[str, Array]

LEVELS = ("token", "word")


class Heads:
    """Every head that a statistic has an entry for: those of all sites, or one a site for joint measures."""

    def __init__(self, sites: Sequence[Site], joint: bool = False) -> None:
        self.sites = list(sites)
        self.joint = joint
        self.count = 0
        self._start: dict[Site, int] = {}
        for site in self.sites:
            self._start[site] = self.count
            self.count += self._width(site)

    def _width(self, site: Site) -> int:
        return 1 if self.joint else site.heads

    def where(self, site: Site) -> slice:
        """The entries of a site's heads."""
        return slice(self._start[site], self._start[site] + self._width(site))

    def labels(self) -> pd.DataFrame:
        """One row a head: stack, kind, layer, head (none for joint measures)."""
        rows = [
            (site.stack, site.kind, site.layer, pd.NA if self.joint else head)
            for site in self.sites
            for head in range(self._width(site))
        ]
        frame = pd.DataFrame(rows, columns=["stack", "kind", "layer", "head"])
        return frame.astype({"layer": "Int64", "head": "Int64"})


class Statistic:
    """The base of all statistics. `Entropy(measure="norm")` is a setting; `start(sites)` makes it countable."""

    name: ClassVar[str]
    about: ClassVar[str]
    fields: tuple[str, ...] = ()  # sums, one entry a head; `add` makes others when they are first met
    usual: ClassVar[bool] = True  # whether a study counts it when none is named
    levels: ClassVar[tuple[str, ...]] = LEVELS  # what it can count in
    needs: ClassVar[tuple[str, ...]] = ()  # the layers of a document that it cannot do without
    gradients: ClassVar[bool] = False  # whether its blocks are those of a backward pass (GradientBlock)
    resampled: ClassVar[bool] = True  # whether its columns get confidence intervals

    def __init__(self, measure: str = "weight", level: str = "token") -> None:
        if MEASURES[measure].per_key:
            raise InputError(f"{self.name} needs a measure of pairs of tokens; {measure} has one number a token.")
        if level not in self.levels:
            raise InputError(f"{self.name} counts in {' or '.join(self.levels)}s, not in {level}s.")
        self.measure = measure
        self.level = level
        self.state: dict[str, Array] = {}

    # To be written for each statistic

    def update(self, block: Any) -> None:
        """Add a ScoreBlock: an AttentionBlock, where it counts in tokens only."""
        raise NotImplementedError

    def columns(self, fields: Fields) -> dict[str, Array]:
        """The numbers that follow from the fields; the last dimension is the table's row, others come before it."""
        raise NotImplementedError

    def labels(self) -> pd.DataFrame:
        """What the rows of the table are: one a head, unless a statistic says otherwise."""
        return self.heads.labels()

    # The same for all

    def settings(self) -> dict[str, Any]:
        """What tells two statistics of one name apart: the arguments that make it again."""
        return {"measure": self.measure, "level": self.level}

    @property
    def table_name(self) -> str:
        """The name of its table: its own, with the measure and level where they are not the usual ones."""
        parts = [self.name]
        if self.measure != "weight":
            parts.append(self.measure)
        if self.level != "token":
            parts.append(f"{self.level}s")
        return "_".join(parts)

    def start(self, sites: Sequence[Site]) -> Statistic:
        """A fresh copy with zero sums, for these sites."""
        fresh = type(self)(**self.settings())
        fresh.heads = Heads(sites, joint=MEASURES[self.measure].joint)
        fresh.state = {name: np.zeros(fresh.heads.count) for name in fresh.fields}
        return fresh

    heads: Heads

    def add(self, name: str, site: Site, amounts: Tensor | float) -> None:
        """Add to a field of a site's heads, in float64."""
        here = self.heads.where(site)
        array = self.state.setdefault(name, np.zeros(self.heads.count))
        array[here] += amounts.double().cpu().numpy() if isinstance(amounts, Tensor) else amounts

    def add_array(self, name: str, amounts: Array) -> None:
        """Add to a field of any shape: what has no heads, or pairs of them."""
        self.state[name] = self.state[name] + amounts if name in self.state else amounts.astype(np.float64)

    def merge(self, other: Statistic) -> None:
        """Add the sums of another run of the same statistic."""
        if (type(self), self.settings()) != (type(other), other.settings()):
            raise InputError(f"{self.table_name} and {other.table_name} are different statistics and cannot be merged.")
        for name, array in other.state.items():
            self.state[name] = self.state[name] + array if name in self.state else array.copy()

    def table(self) -> pd.DataFrame:
        """The rows' labels (stack, kind, layer, head), and the statistic's columns."""
        return self.labels().assign(**self.columns(self.state))


def ratio(part: Array, whole: Array) -> Array:
    """part / whole, and not a number where there is nothing to divide by."""
    return np.divide(part, whole, out=np.full(np.broadcast_shapes(part.shape, whole.shape), np.nan), where=whole != 0)
