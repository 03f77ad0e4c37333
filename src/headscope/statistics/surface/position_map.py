"""The mean map of a head, position by position: what it does whatever the text is (vig2019, eq. 5 has it as a step)."""

from __future__ import annotations

import numpy as np

from headscope.later import pd
from headscope.statistics.base import Columns, Sums, ratio
from headscope.statistics.columns import LENGTH, SHARE, Column
from headscope.statistics.registry import setting, statistic
from headscope.statistics.surface.variability import MeanMap

SHOWN = 12  # positions: as many as can be told apart in a small picture


@statistic("position_map")
class PositionMap(MeanMap):
    """Mean attention from each of the first positions to each, over all texts that have both: one row a head and pair.

    `query` and `key` are positions from 0; special tokens have theirs, as any other. What a causal attention cannot see has
    no row.
    """

    positions: int = setting(SHOWN, least=2, help="First positions of a text that are looked at.")

    score = Column(
        "Mean score",
        SHARE,
        "What this position gives to that one, on average.",
        "looks there more",
        of_heads=False,
        unit_of_norms=LENGTH,
    )

    def labels(self) -> pd.DataFrame:
        heads, pairs = self.heads.labels(), self.positions**2
        query, key = np.divmod(np.tile(np.arange(pairs), len(heads)), self.positions)
        return heads.loc[np.repeat(np.arange(len(heads)), pairs)].reset_index(drop=True).assign(query=query, key=key)

    def columns(self, sums: Sums) -> Columns:
        mean = ratio(sums["sum"], self._texts(sums["texts"]))
        return {"score": mean.reshape(*mean.shape[:-3], -1)}

    def table(self) -> pd.DataFrame:
        table = super().table()
        is_causal = (table["stack"] == "decoder") & (table["kind"] == "self")
        return table[table["score"].notna() & ~(is_causal & (table["key"] > table["query"]))].reset_index(drop=True)
