"""Frequency rank of word pieces against AvgW and AvgN: Spearman's rho (kobayashi2020, section 4.3 and footnote 12)."""

from __future__ import annotations

from typing import Self

import numpy as np

from headscope.later import pd
from headscope.statistics.base import Array, Columns, Sums
from headscope.statistics.kit.rank_sketch import RankSketch, arrays_of, sketches_in
from headscope.statistics.norms.token_averages import Averages, TokenAverages
from headscope.statistics.registry import statistic

TOKENS = ("all", "without_special")
AVERAGES = ("weight", "norm")


@statistic("frequency")
class Frequency(TokenAverages):
    """Spearman's rho of frequency rank with AvgW and AvgN, with and without special tokens (kobayashi2020, 4.3).

    `without_special` leaves out special tokens, periods and commas (footnote 12), and a decoder's first token. The bounds
    say how far rho may be from its exact value (0 while tokens are few). `unknown` are the tokens that have no rank.
    """

    # The sums are sketches; the state is made of their arrays.

    @property
    def state(self) -> dict[str, Array]:
        return arrays_of(self._sketches) | {"seen": self._seen}

    @state.setter
    def state(self, sums: Sums) -> None:
        empty = {f"{tokens} {name}": RankSketch() for tokens in TOKENS for name in AVERAGES}
        self._sketches = empty | sketches_in(sums)
        self._seen = np.array(sums.get("seen", np.zeros(2 * len(TOKENS))))  # with a rank and without, for each of TOKENS

    def add_tokens(self, found: Averages) -> None:
        ranks = self.frequencies.ranks(found.ids)
        for place, tokens in enumerate(TOKENS):
            counted = found.ordinary if tokens == "without_special" else np.ones_like(found.ordinary)
            ranked = counted & (ranks > 0)
            self._seen[[place, place + len(TOKENS)]] += ranked.sum(), (counted & ~ranked).sum()
            for name, averages in (("weight", found.weight), ("norm", found.norm)):
                if np.isfinite(averages).all():  # not of a model of which some sites have no norms
                    self._sketches[f"{tokens} {name}"].add(ranks[ranked], averages[ranked])

    def absorb(self, other: Self) -> None:
        self._seen = self._seen + other._seen
        for name, sketch in other._sketches.items():
            self._sketches[name].merge(sketch)

    def labels(self) -> pd.DataFrame:
        return pd.DataFrame({"which": TOKENS})

    def columns(self, sums: Sums) -> Columns:
        sketches = sketches_in(sums)
        columns: Columns = {}
        for name in AVERAGES:
            found = np.array([sketches[f"{tokens} {name}"].spearman() for tokens in TOKENS])
            columns |= {f"spearman_rank_{name}": found[:, 0], f"bound_rank_{name}": found[:, 1]}
        ranked, unknown = np.split(sums["seen"], 2)
        return columns | {"tokens": ranked, "unknown": unknown}
