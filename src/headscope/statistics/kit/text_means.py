"""Means over rows, or over texts: each text's own mean first, so that a long text weighs no more than a short one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headscope.errors import InputError
from headscope.later import pd
from headscope.lens import ScoreBlock, Site
from headscope.statistics.base import Columns, Statistic, Sums, ratio
from headscope.statistics.registry import setting


@dataclass
class Averaged(Statistic):
    """A statistic whose columns are a head's means: every row of a corpus counts once, or with means="texts" every text."""

    means: str = setting(
        "rows", one_of=("rows", "texts"), said="of_{}", title="as means of {}", help="What counts once: a row, or a text."
    )

    def start(self, sites: Sequence[Site]) -> Any:
        return super().start(sites) if self.means == "rows" else TextMeans(self, sites)


class TextMeans(Statistic):
    """A statistic that is started to count means of texts."""

    one_text = True

    def __init__(self, of: Averaged, sites: Sequence[Site]) -> None:
        self.of, self.sites = of, list(sites)
        self.measure, self.level, self.means = of.measure, of.level, of.means
        self.heads = super(Averaged, of).start(sites).heads
        self.state = {}
        self._texts: dict[Site, Statistic] = {}  # the text that is running, at each site

    def start(self, sites: Sequence[Site]) -> Any:
        return self.of.start(sites)

    @property
    def table_name(self) -> str:
        return self.of.table_name

    def labels(self) -> pd.DataFrame:
        return self.heads.labels()

    def merge(self, other: Statistic) -> None:
        if not isinstance(other, TextMeans) or self.of != other.of:
            raise InputError(f"{self.table_name} and {other.table_name} are different statistics and cannot be merged.")
        self.absorb(other)

    def update(self, block: ScoreBlock) -> None:
        if block.weights.shape[0] != 1:
            raise InputError(f"{self.table_name} is counted one text at a time: give it batches of one.")
        if block.is_first:
            self._texts[block.site] = super(Averaged, self.of).start(self.sites)
        text = self._texts[block.site]
        text.update(block)
        if not block.is_last:
            return
        here = self.heads.where(block.site)
        for name, values in text.columns(text.state).items():
            found = np.isfinite(values[here])
            for sum, amount in ((f"sum {name}", np.where(found, values[here], 0.0)), (f"texts {name}", found)):
                self.state.setdefault(sum, np.zeros(self.heads.count))[here] += amount

    def columns(self, sums: Sums) -> Columns:
        names = [name.removeprefix("sum ") for name in sums if name.startswith("sum ")]
        return {name: ratio(sums[f"sum {name}"], sums[f"texts {name}"]) for name in names}
