"""Sums over a block that several statistics need: `block.cached(received, measure)` computes each once."""

from torch import Tensor

from headscope.lens.score_block import ScoreBlock


def received(block: ScoreBlock, measure: str) -> Tensor:
    """What every key gets from all rows: (batch, head, key)."""
    return block.scores(measure).sum(2)


def given(block: ScoreBlock, measure: str) -> Tensor:
    """What every row gives to all keys: (batch, head, row); 1 for weights without sinks, 0 at padding."""
    return block.scores(measure).sum(3)


def given_beyond_first(block: ScoreBlock, measure: str) -> Tensor:
    """What every row gives to all keys but the first: (batch, head, row)."""
    return block.scores(measure)[..., 1:].sum(3)


def total(block: ScoreBlock, measure: str) -> Tensor:
    """All scores of a head: (head,)"""
    return block.cached(received, measure).sum((0, 2))


def queries(block: ScoreBlock) -> float:
    """How many rows are not padding."""
    return float(block.row_mask.sum())
