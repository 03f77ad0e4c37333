"""How much a head's attention depends on the text, and not on positions alone (vig2019, eq. 5, figure 10).

The mean map must be known before deviations from it can be summed, so this takes two passes: `MeanMap` first, and
`Variability` of its mean. Both are exact and merge like any other sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from headscope.errors import InputError
from headscope.later import Tensor, torch
from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Columns, Sums, ratio
from headscope.statistics.columns import SHARE, Column
from headscope.statistics.pending import wide
from headscope.statistics.registry import setting, statistic
from headscope.statistics.surface.null_attention import NullFiltered

POSITIONS = 10  # the paper's N


@dataclass
class FirstPositions(NullFiltered):
    """A statistic of the first `positions` rows and keys of every text."""

    positions: int = setting(POSITIONS, least=2, help="First positions of a text that are looked at.")

    usual = False
    resampled = False

    def corner(self, block: ScoreBlock) -> tuple[Tensor, Tensor, slice]:
        """The corner's scores (batch, head, row, key), whether a text has that pair (batch, row, key), and the rows."""
        rows = slice(block.rows.start, min(block.rows.stop, self.positions))
        height = max(rows.stop - rows.start, 0)
        scores = block.scores(self.measure)[:, :, :height, self.first_key : self.positions]
        keys = block.key_mask[:, self.first_key : self.positions]
        there = block.row_mask[:, :height, None] & keys[:, None, :]
        return scores, there, rows


@statistic("mean_map")
class MeanMap(FirstPositions):
    """Mean attention between the first positions of all texts: the pattern that depends on no text (vig2019, eq. 5)."""

    def begin(self) -> None:
        shape = (self.positions, self.positions)
        self.state = {"sum": np.zeros((self.heads.count, *shape)), "texts": np.zeros((len(self.heads.sites), *shape))}

    def update(self, block: ScoreBlock) -> None:
        scores, there, rows = self.corner(block)
        if scores.shape[2] == 0:
            return
        keys = slice(self.first_key, self.first_key + scores.shape[3])
        self.add_at("sum", (self.heads.where(block.site), rows, keys), wide(scores).sum(0))
        self.add_at("texts", (self.heads.sites.index(block.site), rows, keys), there.sum(0))

    def mean(self) -> Array:
        """(head, row, key); 0 where no text has that pair."""
        return np.nan_to_num(ratio(self.state["sum"], self._texts(self.state["texts"])))

    def columns(self, sums: Sums) -> Columns:
        """One row a head: what the corner has in all, of one text on average."""
        return {"total": np.nansum(ratio(sums["sum"], self._texts(sums["texts"])), (-1, -2))}

    def _texts(self, texts: Array) -> Array:
        """Texts a pair of positions, for every head of a site."""
        of_head = np.concatenate([np.full(self.heads.where(site).stop - self.heads.where(site).start, place)
                                  for place, site in enumerate(self.heads.sites)])  # fmt: skip
        return texts[..., of_head, :, :]


@statistic("variability")
class Variability(FirstPositions):
    """Mean absolute deviation of attention from its mean over texts, from 0 to 1, on first positions (vig2019, eq. 5)."""

    mean: Array | None = field(default=None, repr=False, compare=False)  # head row key; of a `MeanMap` with these settings

    sums = ("deviation", "total")
    card_place = 130
    variability = Column(
        "Dependence on the text (variability)",
        SHARE,
        "How much the head's map depends on the text.",
        "follows the text more",
    )

    @classmethod
    def of(cls, first_pass: MeanMap) -> Self:
        """The second pass after this first one."""
        return cls(**first_pass.settings(), mean=first_pass.mean())

    def begin(self) -> None:
        if self.mean is None:
            raise InputError("variability takes two passes: count mean_map first, and then Variability.of(it).")

    def update(self, block: ScoreBlock) -> None:
        assert self.mean is not None
        scores, there, rows = self.corner(block)
        if scores.shape[2] == 0:
            return
        keys = slice(self.first_key, self.first_key + scores.shape[3])
        exact = wide(scores)
        mean = torch.from_numpy(self.mean[self.heads.where(block.site), rows, keys]).to(exact)
        deviations = (exact - mean).abs() * there[:, None]
        self.add(block.site, deviation=deviations.sum((0, 2, 3)), total=exact.sum((0, 2, 3)))

    def columns(self, sums: Sums) -> Columns:
        return {"variability": ratio(sums["deviation"], 2 * sums["total"])}
