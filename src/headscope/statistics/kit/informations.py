"""Sums of s log s in the rows of a map, from which all entropies follow: one logarithm a score, whoever asks for them."""

from __future__ import annotations

from typing import NamedTuple

from headscope.later import Tensor
from headscope.lens.score_block import ScoreBlock
from headscope.statistics.kit.categories import beyond_sinks
from headscope.statistics.kit.sweeps import sweep

NOTHING = 1e-30  # a score below it counts as 0: its logarithm would be minus infinity


class Informations(NamedTuple):
    """(batch, head, row) each; negative scores count as 0. By parts, so that nothing has to be taken from a larger sum."""

    of_first: Tensor  # s log s at the first key
    beyond_first: Tensor  # the sum of s log s over all other keys
    beyond_sinks: Tensor  # the same over the keys that are no sinks
    given_beyond_sinks: Tensor  # and the sum of s there


def row_informations(scores: Tensor, kept: Tensor) -> Informations:
    """(batch, head, row, key), and which keys are no sinks, (batch, key) -> (batch, head, row) each."""
    positive = scores.clamp(min=NOTHING)
    informed = positive.log().mul_(positive)
    column = kept.to(scores.dtype)[..., None]
    to_kept = [(rows.flatten(1, 2) @ column).view(scores.shape[:3]) for rows in (informed, positive)]
    return Informations(informed[..., 0].clone(), informed[..., 1:].sum(-1), *to_kept)


def informations(block: ScoreBlock, measure: str) -> Informations:
    """Those of a block: `block.cached(informations, measure)` computes them once."""
    kept = beyond_sinks(block)
    return Informations(*sweep(block, measure, lambda scores, texts: row_informations(scores, kept[texts])))
