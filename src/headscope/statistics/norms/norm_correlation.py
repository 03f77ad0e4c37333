"""Do a head's weight and the norm of what it weighs go together? Spearman's rho by category (kobayashi2020, table 2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from headscope.later import Tensor, pd
from headscope.lens import AttentionBlock, Site
from headscope.measures.value_norm import value_norms_of
from headscope.statistics.base import Array, Columns, Sums
from headscope.statistics.kit.categories import key_categories
from headscope.statistics.kit.pair_counts import PairCounts
from headscope.statistics.kit.rank_sketch import LIMIT, RankSketch, arrays_of, sketches_in
from headscope.statistics.kit.site_rows import SiteRows
from headscope.statistics.kit.totals import first_row, received, visible
from headscope.statistics.norms.norm_statistic import ByCategory
from headscope.statistics.registry import statistic

MOST_UNDRAINED = 1 << 30  # pairs, so that 32 bits hold their counts


@dataclass
class NormPairs(ByCategory):
    """A statistic of pairs (weight, norm) by category of the key; the heads of all sites of one stack and kind together."""

    resampled = False

    def groups(self) -> list[tuple[str, str, str]]:
        """Stack, kind and category of all that are told apart; sites without norms are in none."""
        kinds = dict.fromkeys((site.stack, site.kind) for site in self.heads.sites if site.has_value_norms)
        return [(*kind, category) for kind in kinds for category in self.names]

    def group_names(self, site: Site) -> list[str]:
        """Those of a site, in the order of its categories, each as one name."""
        return [f"{site.stack} {site.kind} {category}" for category in self.names]


@statistic("norm_correlation")
class NormCorrelation(NormPairs):
    """Spearman's rho between the weight and ||f(x)||, by token category (kobayashi2020, table 2).

    `rho` is that of the individual pairs (alpha_ij, ||f(x_j)||) that a query can see. `rho_tokens` takes a token's mean
    weight over all queries of its text instead, and `rho_weighted` is what appendix D says: that mean, Weight, against the
    mean of ||alpha_ij f(x_j)||, WNorm. The bounds say how far rho may be from its exact value.
    """

    # The sums are sketches; the state is made of their arrays.

    @property
    def state(self) -> dict[str, Array]:
        self._drain()
        return arrays_of(dict(sorted(self._sketches.items())))

    @state.setter
    def state(self, sums: Sums) -> None:
        self._sketches = defaultdict(RankSketch, sketches_in(sums))
        self._counts: dict[tuple[str, str], PairCounts] = {}  # by stack and kind: pairs that are in no sketch yet
        self._undrained: Counter[str] = Counter()  # how many of them, by sketch
        self._received = SiteRows[Tensor]()  # what the keys of a batch got

    def update(self, block: AttentionBlock) -> None:
        if not block.site.has_value_norms:
            return
        norms = block.key_side.cached(value_norms_of).cpu()
        categories = key_categories(block, self.categories).cpu()
        self._add_pairs(block, norms, categories)
        self._add_tokens(block, norms, categories)

    def _add_pairs(self, block: AttentionBlock, norms: Tensor, categories: Tensor) -> None:
        seen = visible(block, block.rows).cpu()
        hidden = len(block.rows) - seen
        new = np.bincount(categories.flatten(), (seen * norms.shape[1]).flatten()).astype(int)
        counted = categories.masked_fill(~block.key_mask.cpu(), -1)
        for category, name in enumerate(self._names(block.site, "pair")):
            if category >= len(new) or self._sketches[name].count + self._undrained[name] + new[category] <= LIMIT:
                self._add_few(block, self._sketches[name], norms, counted == category)
                counted[counted == category] = -1
            else:
                self._undrained[name] += int(new[category])
        if bool((counted >= 0).any()):
            kind = block.site.stack, block.site.kind
            counts = self._counts.setdefault(kind, PairCounts(len(self.names)))
            counts.add(block.weights.cpu(), norms, counted, hidden)
            if counts.pairs > MOST_UNDRAINED:
                self._drain()

    def _add_few(self, block: AttentionBlock, sketch: RankSketch, norms: Tensor, chosen: Tensor) -> None:
        """The pairs of some keys one by one; chosen: (batch, key)."""
        text, key = chosen.nonzero(as_tuple=True)
        weights = block.weights.cpu()[text, :, :, key]  # chosen head row
        position = block.row_positions.cpu()
        seen = (position < block.query_lengths.cpu()[text, None]) & (position >= first_row(block).cpu()[key, None])
        own = norms[text, :, key][:, :, None].expand_as(weights)
        pairs = seen[:, None].expand_as(weights)
        sketch.add(weights[pairs].numpy(), own[pairs].numpy())

    def _add_tokens(self, block: AttentionBlock, norms: Tensor, categories: Tensor) -> None:
        got = self._received.complete(block, block.cached(received, "weight").cpu())
        if got is None:
            return
        mean = got / block.query_lengths.cpu()[:, None, None]
        counted = categories.masked_fill(~block.key_mask.cpu(), -1)
        names = zip(self._names(block.site, "token"), self._names(block.site, "weighted"), strict=True)
        for category, (token, weighted) in enumerate(names):
            text, key = (counted == category).nonzero(as_tuple=True)
            weight, norm = mean[text, :, key].numpy(), norms[text, :, key].numpy()
            self._sketches[token].add(weight, norm)
            self._sketches[weighted].add(weight, weight * norm)  # the norm is the same in all rows of a mean

    def _names(self, site: Site, of: str) -> list[str]:
        return [f"{group} {of}" for group in self.group_names(site)]

    def _drain(self) -> None:
        for (stack, kind), counts in self._counts.items():
            for category, cells, amounts in counts.drain():
                name = f"{stack} {kind} {self.names[category]} pair"
                self._sketches[name].add_cells(cells, amounts)
        self._undrained.clear()

    def absorb(self, other: Self) -> None:
        self._drain()
        other._drain()
        for name, sketch in other._sketches.items():
            self._sketches[name].merge(sketch)

    def labels(self) -> pd.DataFrame:
        return pd.DataFrame(self.groups(), columns=["stack", "kind", "category"])

    def columns(self, sums: Sums) -> Columns:
        sketches = sketches_in(sums)
        found = [self._values(sketches, " ".join(group)) for group in self.groups()]
        names = ("rho", "bound", "pairs", "rho_tokens", "bound_tokens", "tokens", "rho_weighted", "bound_weighted")
        return {name: np.array([values[place] for values in found]) for place, name in enumerate(names)}

    def _values(self, sketches: Mapping[str, RankSketch], group: str) -> tuple[float, ...]:
        found = (sketches.get(f"{group} {of}", RankSketch()) for of in ("pair", "token", "weighted"))
        pairs, tokens, weighted = found
        return (*pairs.spearman(), pairs.count, *tokens.spearman(), tokens.count, *weighted.spearman())
