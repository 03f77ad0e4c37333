"""What a statistic is: sums over blocks that can be merged in any order, and the numbers that follow from them.

Its settings are its fields and its columns are class attributes. It adds to its sums (arrays, most often with one entry per
head) in `update` and computes its columns from them in `columns`. Merging, the state file, the table's name, titles and
confidence intervals need no code of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from headscope.errors import InputError
from headscope.later import Tensor, pd
from headscope.lens import ScoreBlock, Site
from headscope.lens.head import HEAD
from headscope.measures import MEASURES
from headscope.statistics.columns import Column
from headscope.statistics.pending import Pending, settle
from headscope.statistics.registry import check, setting
from headscope.statistics.table_names import table_name

Array = NDArray[np.float64]
Sums = Mapping[str, Array]
Columns = dict[str, Array]

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
        return pd.DataFrame(rows, columns=HEAD).astype({"layer": "Int64", "head": "Int64"})


@dataclass
class Statistic:
    """The base of all statistics. `Entropy(measure="norm")` is a setting; `start(sites)` makes it countable.

    A field that is not compared is no setting: it is handed on to what is started, and nothing remembers it.
    """

    measure: str = setting("weight", one_of=MEASURES, said="{}", title="by {}")
    level: str = setting("token", one_of=LEVELS, said="{}s", title="in {}s")

    name: ClassVar[str]
    about: ClassVar[str]
    sums: ClassVar[tuple[str, ...]] = ()  # one entry a head each; `add` makes others when they are first met
    per: ClassVar[str] = ""  # the sum that all others are divided by, where that is what its columns are
    usual: ClassVar[bool] = True  # whether a study counts it when none is named
    levels: ClassVar[tuple[str, ...]] = LEVELS  # what it can count in
    measures: ClassVar[tuple[str, ...]] = ()  # what it can count by, if that is not every measure of pairs of tokens
    needs: ClassVar[tuple[str, ...]] = ()  # the layers of a document that it cannot do without
    one_text: ClassVar[bool] = False  # whether its batches must be of one text each
    gradients: ClassVar[bool] = False  # whether its blocks are those of a backward pass (GradientBlock)
    resampled: ClassVar[bool] = True  # whether its columns get confidence intervals
    card_place: ClassVar[float] = math.inf  # where its numbers stand on a head's card: the smaller, the earlier

    def __post_init__(self) -> None:
        if MEASURES[self.measure].per_key:
            raise InputError(f"{self.name} needs a measure of pairs of tokens; {self.measure} has one number a token.")
        if self.measures and self.measure not in self.measures:
            others = "".join(f" or give measure={name!r}" for name in self.measures[1:])
            raise InputError(f"{self.name} takes no measure {self.measure!r}: leave it away{others}.")
        if self.level not in self.levels:
            raise InputError(f"{self.name} counts in {' or '.join(self.levels)}s, not in {self.level}s.")
        for one in fields(self):
            check(self.name, one, getattr(self, one.name))
        self.state = {}
        self.heads: Heads

    # To be written for each statistic

    def update(self, block: Any) -> None:
        """Add a ScoreBlock: an AttentionBlock, where it counts in tokens only."""
        raise NotImplementedError

    def columns(self, sums: Sums) -> Columns:
        """The numbers that follow from the sums; the last dimension is the table's row, others come before it."""
        if not self.per:
            raise NotImplementedError
        return {name: ratio(sums[name], sums[self.per]) for name in sums if name != self.per}

    # What some say in their own way

    def begin(self) -> None:
        """What counting needs beside `sums`: called when the heads are known."""

    def counted_sites(self, sites: Sequence[Site]) -> Sequence[Site]:
        """The attentions that it has entries for."""
        return sites

    @property
    def joint(self) -> bool:
        """Whether there is one entry a site, and not one a head."""
        return MEASURES[self.measure].joint

    def labels(self) -> pd.DataFrame:
        """What the rows of the table are: one a head."""
        return self.heads.labels()

    @classmethod
    def column(cls, name: str) -> Column | None:
        """What a column is: the attribute of that name."""
        found = getattr(cls, name, None)
        return found if isinstance(found, Column) else None

    def absorb(self, other: Self) -> None:
        """Add the sums of another with the same settings."""
        self.add_arrays(**other.state)

    # The same for all

    @property
    def state(self) -> dict[str, Array]:
        """The sums, with all that was added to them."""
        settle([self._pending])
        return self._pending.sums

    @state.setter
    def state(self, sums: dict[str, Array]) -> None:
        self._pending = Pending(sums)

    def settings(self) -> dict[str, Any]:
        """What tells two statistics of one name apart: the arguments that make it again."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.compare}

    @property
    def table_name(self) -> str:
        """The name of its table: its own, with the settings that are said and not the usual ones."""
        return table_name(self)

    def start(self, sites: Sequence[Site]) -> Self:
        """A fresh copy with zero sums, for these sites."""
        fresh = replace(self)
        fresh.heads = Heads(self.counted_sites(sites), joint=self.joint)
        fresh.state = {name: np.zeros(fresh.heads.count) for name in self.sums}
        fresh.begin()
        return fresh

    def add(self, site: Site, /, **amounts: Tensor | float) -> None:
        """Add to the sums of a site's heads, in float64: (head,) or (head, ...) each, or one number for all of them.

        Tensors stay where they are until the sums are asked for: nothing waits for the device.
        """
        here = self.heads.where(site)
        for name, amount in amounts.items():
            self._pending.add(name, self.heads.count, here, amount)

    def add_at(self, name: str, index: Any, amount: Tensor, entries: int = 0) -> None:
        """The same for sums that have no heads: to what an index names. `begin` makes them, or they have `entries`."""
        self._pending.add(name, entries, index, amount)

    def add_arrays(self, **amounts: Array) -> None:
        """Add to sums of any shape: what has no heads, or pairs of them."""
        for name, amount in amounts.items():
            self.state[name] = self.state[name] + amount if name in self.state else amount.astype(np.float64)

    def starts_batch(self, block: ScoreBlock) -> bool:
        """Whether a block is the first of its batch: what the documents have, they have once."""
        return block.is_first and block.site == self.heads.sites[0]

    def merge(self, other: Statistic) -> None:
        """Add the sums of another run of the same statistic."""
        if not isinstance(other, type(self)) or self != other:
            raise InputError(f"{self.table_name} and {other.table_name} are different statistics and cannot be merged.")
        self.absorb(other)

    def table(self) -> pd.DataFrame:
        """The rows' labels (stack, kind, layer, head), and the statistic's columns."""
        return self.labels().assign(**self.columns(self.state))


def settle_all(statistics: Iterable[Statistic]) -> None:
    """Bring the sums of several over together, before they are asked for."""
    settle(one._pending for one in statistics if hasattr(one, "_pending"))


def ratio(part: Array, whole: Array) -> Array:
    """part / whole, and not a number where there is nothing to divide by."""
    return np.divide(part, whole, out=np.full(np.broadcast_shapes(part.shape, whole.shape), np.nan), where=whole != 0)
