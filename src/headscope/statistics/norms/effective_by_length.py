"""Weights against effective attention and against norms, by the length of the text (kobayashi2020, appendix G, figure 25).

Effective attention costs a factorisation a head and text, so only some of the texts are measured.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from headscope.later import Tensor, pd, torch
from headscope.lens.block import AttentionBlock, KeySide
from headscope.measures.full_rank_basis import full_rank_basis
from headscope.measures.value_norm import value_norms_of
from headscope.statistics.base import Array, Columns, Sums, ratio
from headscope.statistics.kit.sampled_texts import some_texts
from headscope.statistics.kit.site_rows import SiteRows
from headscope.statistics.kit.sweeps import by_parts
from headscope.statistics.norms.norm_statistic import NormStatistic, population_deviation
from headscope.statistics.registry import setting, statistic

LONGEST = 4096  # tokens; longer texts count as that long
OTHERS = ("effective", "norm")  # what the weights are correlated with
SUMMED = ("maps", *(f"{other}{part}" for other in OTHERS for part in ("_maps", "", "_squares")))


def map_sums(weights: Tensor, norms: Tensor, basis: Tensor, diagonal: int | None = None) -> Tensor:
    """Sums over the pairs of a map of x, y, x^2, y^2, x y, with x the weights and y each of OTHERS: (2, 5, text, head).

    From weights (text, head, row, key), ||f(x)|| (text, head, key) and the basis Q of effective attention (text, head, key,
    d), all in float64. With `diagonal`, row i sees keys up to i + diagonal, and only those count.

    Norms are y = x ||f||, so that sums over the rows of a key are enough. Effective attention is y = A P with a projection
    P = Q Q^T = P^2: the sums of x y and of y^2 both are ||A Q||^2, without a second map. It is not zero where the weights
    of a causal decoder are, though: there, it is computed and cut.
    """
    first, second = weights.sum(2), weights.square().sum(2)  # of each key
    x, xx = first.sum(-1), second.sum(-1)
    reduced = basis.mT @ weights.mT  # the thin side first: two thirds of the time
    xy = reduced.square().sum((-2, -1))
    if diagonal is None:
        y, yy = ((first[..., None, :] @ basis)[..., 0, :] * basis.sum(-2)).sum(-1), xy
    else:
        effective = (reduced.mT @ basis.mT).tril_(diagonal)
        y, yy = effective.sum((-2, -1)), effective.square().sum((-2, -1))
    of_effective = torch.stack([x, y, xx, yy, xy])
    of_norms = torch.stack([x, (norms * first).sum(-1), xx, (norms * norms * second).sum(-1), (norms * second).sum(-1)])
    return torch.stack([of_effective, of_norms])


def basis_of(keys: KeySide, texts: tuple[int, ...]) -> Tensor:
    """The basis Q of effective attention for some texts of a batch: (text, head, key, d), float64."""
    values = keys.values[list(texts)]
    if keys.mask is not None:
        values = values * keys.mask[list(texts)][:, None, :, None]
    return full_rank_basis(values @ keys.projection.roots)


def pearson(pairs: Tensor, sums: Tensor) -> Tensor:
    """r from the number of pairs (...) and the sums (5, ...) of `map_sums`; not a number where x or y does not vary."""
    x, y, xx, yy, xy = sums
    spread_x, spread_y = pairs * xx - x * x, pairs * yy - y * y
    rounding = 1e-12 * pairs  # differences below this are rounding: the scores do not vary
    varies = (spread_x > rounding * xx) & (spread_y > rounding * yy)
    r = (pairs * xy - x * y) / (spread_x * spread_y).sqrt()
    return torch.where(varies, r, torch.nan).clamp(-1, 1)


@statistic("effective_by_length")
class EffectiveByLength(NormStatistic):
    """Pearson's r of weights with effective attention and with norms, by text length (kobayashi2020, figure 25).

    One r for each head and text, over all its pairs of tokens (in a causal decoder: of keys up to the query); one row a
    length in tokens (of the keys). Measured are the texts whose number, a hash, is divisible by `every`.
    """

    every: int = setting(10, least=1, help="Measure one text in so many, chosen by a hash.")

    resampled = False  # the lengths of one shard are not those of another

    def begin(self) -> None:
        self._sums = SiteRows[Tensor]()  # as `map_sums` has them

    def update(self, block: AttentionBlock) -> None:
        texts = block.batch.cached(some_texts, self.every)
        if len(texts) == 0:
            return
        lengths = block.key_mask.sum(1)[texts]
        if not block.site.has_value_norms:
            if block.is_last:
                self._add(block, lengths, torch.full((2, len(texts), block.site.heads), torch.nan))
            return
        # All that the texts measured depend on is in the key of their basis.
        basis = block.key_side.cached(basis_of, tuple(texts.tolist()))
        norms = block.key_side.cached(value_norms_of)[texts].double()
        weights = block.weights if len(texts) == len(block.weights) else block.weights[texts]
        diagonal = block.rows.start if block.is_causal else None

        def make(some: Tensor, texts: slice, heads: slice) -> tuple[Tensor]:
            return (map_sums(some.double(), norms[texts, heads], basis[texts, heads], diagonal).permute(2, 3, 0, 1),)

        sums = self._sums.complete(block, by_parts(weights, make)[0].permute(2, 3, 0, 1))
        if sums is not None:
            pairs = lengths * (lengths + 1) / 2 if block.is_causal else lengths * block.query_lengths[texts]
            correlations = [pearson(pairs[:, None].double(), of_other) for of_other in sums]
            self._add(block, lengths, torch.stack(correlations))

    def _add(self, block: AttentionBlock, lengths: Tensor, correlations: Tensor) -> None:
        """(text,), (2, text, head): Pearson's r with each of OTHERS."""
        heads = correlations.shape[-1]
        columns = [np.full(len(lengths), float(heads))]
        for r in correlations.double().cpu().numpy():
            known = np.isfinite(r)
            exact = np.where(known, r, 0.0)
            columns += [known.sum(1).astype(np.float64), exact.sum(1), (exact * exact).sum(1)]
        rows = self._kinds().index((block.site.stack, block.site.kind)) * (LONGEST + 1) + lengths.clamp(max=LONGEST)
        self._add_rows(rows.cpu().numpy(), np.stack(columns, 1))

    def _add_rows(self, rows: NDArray[np.int64], sums: Array) -> None:
        """Add to a sparse table: `rows` says which (kind of site, length) each of `sums` (row, SUMMED) belongs to."""
        if "row" in self.state:
            rows = np.concatenate([np.asarray(self.state["row"], dtype=np.int64), rows])
            sums = np.concatenate([self.state["sums"], sums])
        distinct, place = np.unique(rows, return_inverse=True)
        added = np.zeros((len(distinct), len(SUMMED)))
        np.add.at(added, place, sums)
        self.state = {"row": distinct.astype(np.float64), "sums": added}

    def absorb(self, other: Self) -> None:
        if other.state:
            self._add_rows(other.state["row"].astype(np.int64), other.state["sums"])

    def _kinds(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys((site.stack, site.kind) for site in self.heads.sites))

    def labels(self) -> pd.DataFrame:
        rows = np.asarray(self.state.get("row", np.zeros(0)), dtype=np.int64)
        kinds = [self._kinds()[place] for place in rows // (LONGEST + 1)]
        labels = pd.DataFrame(kinds, columns=["stack", "kind"])
        return labels.assign(length=rows % (LONGEST + 1))

    def columns(self, sums: Sums) -> Columns:
        of_rows = dict(zip(SUMMED, sums.get("sums", np.zeros((0, len(SUMMED)))).T, strict=True))
        columns = {}
        for name in OTHERS:
            count, total = of_rows[f"{name}_maps"], of_rows[name]
            columns[f"{name}_mean"] = ratio(total, count)
            columns[f"{name}_deviation"] = population_deviation(count, total, of_rows[f"{name}_squares"])
        return columns | {"maps": of_rows["maps"]}
