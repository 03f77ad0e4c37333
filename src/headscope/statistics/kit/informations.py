"""Sums of s log s in the rows of a map, from which all entropies follow: one logarithm a weight, whoever asks for them."""

from __future__ import annotations

from typing import NamedTuple

from headscope.later import Tensor
from headscope.lens.score_block import ScoreBlock
from headscope.measures import MEASURES
from headscope.statistics.kit.key_columns import KINDS, NO_SINKS, key_columns, onto, part_of
from headscope.statistics.kit.sweeps import sweep, swept_with
from headscope.statistics.kit.totals import row_sums

NOTHING = 1e-30  # a score below it counts as 0: its logarithm would be minus infinity


class Informations(NamedTuple):
    """(batch, head, row) each; negative scores count as 0. By parts, so that nothing has to be taken from a larger sum."""

    of_first: Tensor  # s log s at the first key
    beyond_first: Tensor  # the sum of s log s over all other keys
    beyond_sinks: Tensor  # the same over the keys that are no sinks
    given_beyond_sinks: Tensor  # and the sum of s there


def informations(block: ScoreBlock, measure: str) -> Informations:
    """Those of a block, computed once, with those of all measures that the same logarithms serve."""
    measures = swept_with(block, measure)
    return block.cached(_informations, measures)[measures.index(measure)]


def _informations(block: ScoreBlock, measures: tuple[str, ...]) -> list[Informations]:
    columns, count = key_columns(block, measures), len(measures)
    signed = MEASURES[measures[0]].signed

    def make(scores: Tensor, texts: slice, heads: slice) -> tuple[Tensor, ...]:
        positive = scores.clamp(min=0) if signed else scores
        factors = part_of(columns.factors, texts, heads)
        informed = onto(positive.clamp(min=NOTHING).log_().mul_(positive), factors)
        if columns.logarithms is not None:
            informed = informed + onto(positive, part_of(columns.logarithms, texts, heads))
        return (informed, onto(positive, factors[:, :, NO_SINKS:])[:, :, 0]) if signed else (informed,)

    informed, *given = sweep(block, measures, make)
    given = given or [row_sums(block, measure).beyond_sinks for measure in measures]  # where nothing is negative
    of_first, beyond_first, beyond_sinks = (informed[:, :, kind * count : (kind + 1) * count] for kind in KINDS)
    return [
        Informations(of_first[:, :, at], beyond_first[:, :, at], beyond_sinks[:, :, at], given[at]) for at in range(count)
    ]
