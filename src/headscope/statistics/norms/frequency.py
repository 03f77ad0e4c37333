"""Frequency rank of word pieces against AvgW and AvgN: Spearman's rho (kobayashi2020, section 4.3 and footnote 12)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from headscope.errors import InputError
from headscope.statistics.base import Array, Fields, Statistic
from headscope.statistics.kit.rank_sketch import RankSketch
from headscope.statistics.norms.token_averages import Averages, TokenAverages
from headscope.statistics.registry import statistic

TOKENS = ("all", "without_special")
AVERAGES = ("weight", "norm")


@statistic
class Frequency(TokenAverages):
    """Spearman's rho of frequency rank with AvgW and AvgN, with and without special tokens (kobayashi2020, 4.3).

    `without_special` leaves out special tokens, periods and commas (footnote 12), and a decoder's first token. The bounds
    say how far rho may be from its exact value (0 while tokens are few). `unknown` are the tokens that have no rank.
    """

    name = "frequency"

    # The sums are sketches; the state is made of their arrays.

    @property
    def state(self) -> dict[str, Array]:
        arrays = {name: sketch.state() for name, sketch in self._sketches.items()}
        state = {f"{name} {field}": array for name, fields in arrays.items() for field, array in fields.items()}
        return state | {"seen": self._seen}

    @state.setter
    def state(self, fields: Fields) -> None:
        self._sketches = _sketches_in(fields)
        self._seen = np.array(fields.get("seen", np.zeros(2 * len(TOKENS))))  # with a rank and without, for each of TOKENS

    def add_tokens(self, found: Averages) -> None:
        ranks = self.frequencies.ranks(found.ids)
        for place, tokens in enumerate(TOKENS):
            counted = found.ordinary if tokens == "without_special" else np.ones_like(found.ordinary)
            ranked = counted & (ranks > 0)
            self._seen[[place, place + len(TOKENS)]] += ranked.sum(), (counted & ~ranked).sum()
            for name, averages in (("weight", found.weight), ("norm", found.norm)):
                if np.isfinite(averages).all():  # not of a model of which some sites have no norms
                    self._sketches[f"{tokens} {name}"].add(ranks[ranked], averages[ranked])

    def merge(self, other: Statistic) -> None:
        if (type(self), self.settings()) != (type(other), other.settings()):
            raise InputError(f"{self.table_name} and {other.table_name} are different statistics and cannot be merged.")
        assert isinstance(other, Frequency)
        self._seen = self._seen + other._seen
        for name, sketch in other._sketches.items():
            self._sketches[name].merge(sketch)

    def labels(self) -> pd.DataFrame:
        return pd.DataFrame({"which": TOKENS})

    def columns(self, fields: Fields) -> dict[str, Array]:
        sketches = _sketches_in(fields)
        columns: dict[str, Array] = {}
        for name in AVERAGES:
            found = np.array([sketches[f"{tokens} {name}"].spearman() for tokens in TOKENS])
            columns |= {f"spearman_rank_{name}": found[:, 0], f"bound_rank_{name}": found[:, 1]}
        ranked, unknown = np.split(fields["seen"], 2)
        return columns | {"tokens": ranked, "unknown": unknown}


def _sketches_in(fields: Fields) -> dict[str, RankSketch]:
    """The sketches whose arrays these are, by name; empty ones where there are none."""
    found = {}
    for name in (f"{tokens} {average}" for tokens in TOKENS for average in AVERAGES):
        arrays = {field: fields[f"{name} {field}"] for field in ("pairs", "cells", "counts") if f"{name} {field}" in fields}
        found[name] = RankSketch.from_state(arrays) if arrays else RankSketch()
    return found
