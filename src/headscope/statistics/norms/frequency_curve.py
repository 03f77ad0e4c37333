"""Weight and norm of word pieces by their frequency rank and count, in bins (kobayashi2020, figures 14 and 15)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headscope.later import pd
from headscope.statistics.base import Columns, Sums, ratio
from headscope.statistics.norms.norm_statistic import population_deviation
from headscope.statistics.norms.token_averages import Averages, TokenAverages
from headscope.statistics.registry import statistic

BINS = 200  # of ranks, before those that hold no whole number are left away
SUMMED = ("tokens", "count", "weight", "weight_squares", "norm", "norm_squares")


def bin_edges(ranks: int, bins: int = BINS) -> NDArray[np.int64]:
    """Edges of bins of about one width on a logarithmic axis: bin k has the ranks from edge k up to edge k + 1, exclusive.

    >>> bin_edges(100, 8)
    array([  1,   3,   5,  10,  17,  31,  56, 101])
    """
    return np.unique(np.floor(np.geomspace(1, ranks + 1, bins + 1) + 1e-9).astype(np.int64))


@statistic("frequency_curve")
class FrequencyCurve(TokenAverages):
    """Mean and deviation of AvgW and AvgN of tokens by frequency rank, in bins (kobayashi2020, figures 14 and 15).

    `count_mean` is the mean count of a token's piece in the frequency file. Bins without tokens have no row.
    """

    def begin(self) -> None:
        super().begin()
        self.state = {name: np.zeros(len(self._edges()) - 1) for name in SUMMED}

    def _edges(self) -> NDArray[np.int64]:
        return bin_edges(len(self.frequencies))

    def add_tokens(self, found: Averages) -> None:
        ranks = self.frequencies.ranks(found.ids)
        ranked = ranks > 0
        place = np.searchsorted(self._edges(), ranks[ranked], side="right") - 1
        weight, norm = found.weight[ranked], found.norm[ranked]
        amounts = {
            "tokens": np.ones(len(place)),
            "count": self.frequencies.counts(found.ids[ranked]),
            "weight": weight,
            "weight_squares": weight**2,
            "norm": norm,
            "norm_squares": norm**2,
        }
        for name, amount in amounts.items():
            self.state[name] += np.bincount(place, amount, minlength=len(self.state[name]))

    def labels(self) -> pd.DataFrame:
        edges = self._edges()
        return pd.DataFrame({"rank_low": edges[:-1], "rank_high": edges[1:] - 1})

    def columns(self, sums: Sums) -> Columns:
        tokens = sums["tokens"]
        columns = {"tokens": tokens, "count_mean": ratio(sums["count"], tokens)}
        for name in ("weight", "norm"):
            columns[f"{name}_mean"] = ratio(sums[name], tokens)
            columns[f"{name}_deviation"] = population_deviation(tokens, sums[name], sums[f"{name}_squares"])
        return columns

    def table(self) -> pd.DataFrame:
        table = super().table()
        return table[table["tokens"] > 0].reset_index(drop=True)
