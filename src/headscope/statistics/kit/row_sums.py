"""Sums of s and of s log s in the rows of a map, from which all entropies follow: one logarithm a weight, whoever asks."""

from __future__ import annotations

from typing import NamedTuple

from headscope.later import Tensor
from headscope.lens.score_block import ScoreBlock
from headscope.measures import MEASURES
from headscope.statistics.kit.key_columns import KINDS, NO_SINKS, key_columns, onto, part_of
from headscope.statistics.kit.sweeps import sweep, swept_with
from headscope.statistics.kit.swept_rows import can_sweep, swept_rows
from headscope.statistics.kit.totals import on_first

NOTHING = 1e-30  # a score below it counts as 0: its logarithm would be minus infinity


class RowSums(NamedTuple):
    """(batch, head, row) each. By parts, so that nothing has to be taken from a larger sum.

    In the sums of s log s, and in the last, negative scores count as 0.
    """

    of_first: Tensor  # s at the first key
    beyond_first: Tensor  # the sum of s over all other keys
    informed_of_first: Tensor  # s log s at the first key
    informed_beyond_first: Tensor  # the sum of s log s over all other keys
    informed_beyond_sinks: Tensor  # the same over the keys that are no sinks
    beyond_sinks: Tensor  # and the sum of s there


def row_sums(block: ScoreBlock, measure: str) -> RowSums:
    """Those of a block, computed once, with those of all measures that one sweep and its logarithms serve."""
    measures = swept_with(block, measure)
    return block.cached(_row_sums, measures)[measures.index(measure)]


def given(block: ScoreBlock, measure: str) -> Tensor:
    """What every row gives to all keys: (batch, head, row); 1 for weights without sinks, 0 at padding."""
    found = row_sums(block, measure)
    return found.of_first + found.beyond_first


def _row_sums(block: ScoreBlock, measures: tuple[str, ...]) -> list[RowSums]:
    parts = block.cached(swept_rows, measures) if can_sweep(block, measures) else _by_products(block, measures)
    firsts = [on_first(block, measure) for measure in measures]
    return [
        RowSums(first, part[0], _informed(first.clamp(min=0)), *part[1:4]) for first, part in zip(firsts, parts, strict=True)
    ]


def _by_products(block: ScoreBlock, measures: tuple[str, ...]) -> list[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """The sums beyond the first key and beyond sinks, by PyTorch's operations: `SweptRows` has them in this order."""
    columns, count = key_columns(block, measures), len(measures)
    signed, width = MEASURES[measures[0]].signed, len(KINDS) * count

    def make(scores: Tensor, texts: slice, heads: slice) -> tuple[Tensor, ...]:
        sums = onto(scores, part_of(columns.with_logarithms, texts, heads))
        factors = part_of(columns.factors, texts, heads)
        positive = scores.clamp(min=0) if signed else scores
        informed = onto(_informed(positive), factors)
        if sums.shape[2] > width:
            informed = informed + sums[:, :, width:]
        kept = onto(positive, factors[:, :, NO_SINKS:]) if signed else sums[:, :, NO_SINKS * count : width]
        return sums[:, :, :count], informed, kept

    beyond_first, informed, beyond_sinks = sweep(block, measures, make)
    found = []
    for place in range(count):
        others, no_sinks = (informed[:, :, kind * count + place] for kind in KINDS)
        found.append((beyond_first[:, :, place], others, no_sinks, beyond_sinks[:, :, place]))
    return found


def _informed(positive: Tensor) -> Tensor:
    """s log s, and 0 log 0 is 0."""
    return positive.clamp(min=NOTHING).log_().mul_(positive)
