"""Random pairs of a weight and the norm of what it weighs, for the scatter plots (kobayashi2020, figures 5 and 13)."""

from __future__ import annotations

from typing import Self

import numpy as np

from headscope.later import pd
from headscope.lens.block import AttentionBlock
from headscope.measures.value_norm import value_norms_of
from headscope.statistics.base import Array, Columns, Sums
from headscope.statistics.exemplars import document_numbers
from headscope.statistics.kit.categories import key_categories
from headscope.statistics.kit.pair_sample import seeds_of, smallest, visits
from headscope.statistics.kit.totals import first_row, visible
from headscope.statistics.norms.norm_correlation import NormPairs
from headscope.statistics.registry import setting, statistic

SIZE = 2000  # pairs a category
_COLUMNS = ("priority", "layer", "head", "weight", "norm")


@statistic("norm_scatter")
class NormScatter(NormPairs):
    """A random sample of pairs (weight, ||f(x)||) by token category (kobayashi2020, figures 5 and 13).

    Every pair that a query can see is as likely as any other of its category. The state has for each group an array
    (pair, priority and what the table says), sorted by priority.
    """

    size: int = setting(SIZE, least=1, help="Pairs of each category that are kept.")
    seed: int = setting(0, help="For the pairs that are drawn by lot.")

    def update(self, block: AttentionBlock) -> None:
        if not block.site.has_value_norms:
            return
        names = self.group_names(block.site)
        time, group, text, head, row, key = _visited(self._seeds(block), self._seen(block), block.site.heads)
        row = row + first_row(block).cpu().numpy()[key]
        limits = np.array([self._limit(name) for name in names])
        here = (row >= block.rows.start) & (row < block.rows.stop) & (time < limits[group])
        time, group, text, head, row, key = (part[here] for part in (time, group, text, head, row, key))
        weight = block.weights[text, head, row - block.rows.start, key].cpu().numpy()
        norm = block.key_side.cached(value_norms_of)[text, head, key].cpu().numpy()
        found = np.stack([time, np.full(len(time), block.site.layer), head, weight, norm], 1)
        for number in np.unique(group):
            self._keep(names[number], found[group == number])

    def _seeds(self, block: AttentionBlock) -> Array:
        """(category, text), of the text itself and the site: the same in whatever batch or shard."""
        numbers = block.batch.cached(document_numbers)
        categories = np.arange(len(self.names))[:, None]
        return seeds_of(self.seed, block.site.index, categories, np.array(numbers, dtype=np.uint64))

    def _seen(self, block: AttentionBlock) -> Array:
        """(category, text, key): how many queries see each key, in its category."""
        categories = np.arange(len(self.names))
        key_category = key_categories(block, self.categories).cpu().numpy()
        return visible(block).cpu().numpy() * (key_category == categories[:, None, None])

    def _limit(self, name: str) -> float:
        """The priority that a pair has to stay below."""
        kept = self.state.get(name)
        return np.inf if kept is None or len(kept) < self.size else float(kept[-1, 0])

    def _keep(self, name: str, rows: Array) -> None:
        kept = self.state.get(name)
        self.state[name] = smallest(rows if kept is None else np.concatenate([kept, rows]), self.size)

    def absorb(self, other: Self) -> None:
        for name, rows in other.state.items():
            self._keep(name, rows)

    def labels(self) -> pd.DataFrame:
        counts = [len(self.state.get(" ".join(group), ())) for group in self.groups()]
        groups = pd.DataFrame(self.groups(), columns=["stack", "kind", "category"])
        return groups.loc[np.repeat(np.arange(len(counts)), counts)].reset_index(drop=True)

    def columns(self, sums: Sums) -> Columns:
        nothing = np.zeros((0, len(_COLUMNS)))
        rows = np.concatenate([nothing, *(sums.get(" ".join(group), nothing) for group in self.groups())])
        return {name: rows[:, place] for place, name in enumerate(_COLUMNS) if name != "priority"}

    def table(self) -> pd.DataFrame:
        return super().table().astype({"layer": "Int64", "head": "Int64"})


def _visited(seeds: Array, seen: Array, heads: int) -> tuple[Array, ...]:
    """Pairs that are visited: time, category, text, head, row (counted from the first that sees the key), and key; (pair,).

    seeds: (category, text); seen: (category, text, key). The pairs of a group are numbered by head, then key, then row.
    """
    a_head = seen.sum(2).ravel()  # pairs of each group in one head
    times, chosen = visits(seeds.ravel(), a_head * heads)
    group, visit = np.nonzero(np.isfinite(times))
    head, place = np.divmod(chosen[group, visit], a_head[group])
    ends = np.cumsum(seen.ravel())
    starts_of_groups = np.cumsum(a_head) - a_head
    at = np.searchsorted(ends, starts_of_groups[group] + place, side="right")  # of all keys of all groups
    row = starts_of_groups[group] + place - (ends - seen.ravel())[at]
    category, text = np.divmod(group, seen.shape[1])
    return times[group, visit], category, text, head, row, at % seen.shape[2]
