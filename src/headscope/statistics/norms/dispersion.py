"""How much ||f(x)|| differs from token to token, by head, and ||x||, by layer (kobayashi2020, tables 1 and 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from headscope.later import Tensor, pd, torch
from headscope.lens.block import AttentionBlock
from headscope.measures.value_norm import value_norms_of
from headscope.statistics.base import Columns, Sums, ratio
from headscope.statistics.columns import COUNT, LENGTH, RATIO, Column
from headscope.statistics.norms.norm_statistic import NormStatistic, population_deviation
from headscope.statistics.registry import statistic

# How two extremes become one; what has met no vector is not a number, which fmax and fmin pass over.
EXTREMES = {"largest": np.fmax, "smallest": np.fmin}


def extremes(lengths: Tensor, there: Tensor) -> dict[str, Tensor]:
    """(batch, head, key) lengths, (batch, key) True where a token is -> the largest and the smallest of each head."""
    absent = ~there[:, None]
    return {
        "largest": lengths.masked_fill(absent, -torch.inf).amax((0, 2)),
        "smallest": lengths.masked_fill(absent, torch.inf).amin((0, 2)),
    }


@dataclass
class LengthDispersion(NormStatistic):
    """Mean, population deviation, coefficient of variation and extremes of a length that every token has once.

    The extremes and the count are columns of the table alone: they get no confidence intervals, since extremes of
    resampled shards do not follow from sums.
    """

    sums = ("vectors", "length", "squared_length")

    def begin(self) -> None:
        self.state |= {name: np.full(self.heads.count, np.nan) for name in EXTREMES}

    def lengths(self, block: AttentionBlock) -> Tensor | None:
        """(batch, head, key), whatever it is at padding; None where the site does not have them."""
        raise NotImplementedError

    def update(self, block: AttentionBlock) -> None:
        lengths = self.lengths(block) if block.is_first else None  # every token once, not once a row
        if lengths is None:
            return
        there = block.key_mask
        exact = lengths.double() * there[:, None]
        squared = exact.square().sum((0, 2))
        self.add(block.site, vectors=float(there.sum()), length=exact.sum((0, 2)), squared_length=squared)
        here = self.heads.where(block.site)
        for name, found in extremes(lengths, there).items():
            self.state[name][here] = EXTREMES[name](self.state[name][here], found.double().cpu().numpy())

    def absorb(self, other: Self) -> None:
        merged = {
            name: extreme(self.state[name], other.state[name]) for name, extreme in EXTREMES.items() if name in other.state
        }
        super().absorb(other)
        self.state |= merged

    def columns(self, sums: Sums) -> Columns:
        mean = ratio(sums["length"], sums["vectors"])
        deviation = population_deviation(sums["vectors"], sums["length"], sums["squared_length"])
        return {"mean": mean, "deviation": deviation, "cv": ratio(deviation, mean)}

    def table(self) -> pd.DataFrame:
        whole = {name: self.state[name] for name in (*EXTREMES, "vectors")}
        return super().table().assign(**whole)


@statistic("dispersion")
class Dispersion(LengthDispersion):
    """Mean, deviation, coefficient of variation and extremes of ||f(x)|| over all tokens (kobayashi2020, table 1)."""

    card_place = 120
    mean = Column(
        "Mean length of what a token offers, f(x)",
        LENGTH,
        "How long the vector is that a token offers.",
        "has longer vectors",
    )
    deviation = Column(
        "Deviation of the length of f(x)", LENGTH, "How much that length differs between tokens.", "differs more"
    )
    cv = Column(
        "Variation of the length of f(x), deviation over mean", RATIO, "The deviation as a part of the mean.", "differs more"
    )
    largest = Column("Longest f(x)", LENGTH, "The longest vector met.", "has longer ones", of_heads=False)
    smallest = Column("Shortest f(x)", LENGTH, "The shortest vector met.", "has no short ones", of_heads=False)
    vectors = Column("Vectors", COUNT, "How many vectors were met.", "met more", of_heads=False)

    def lengths(self, block: AttentionBlock) -> Tensor | None:
        return block.key_side.cached(value_norms_of) if block.site.has_value_norms else None


@statistic("input_dispersion")
class InputDispersion(LengthDispersion):
    """The same of ||x||, the vectors that the values are made from, one row a layer (kobayashi2020, table 4)."""

    joint = True

    def lengths(self, block: AttentionBlock) -> Tensor | None:
        inputs = block.key_side.inputs  # batch key d_model
        return None if inputs is None else torch.linalg.vector_norm(inputs.float(), dim=-1)[:, None]
