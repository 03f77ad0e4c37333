"""Sums over a block that several statistics need, and its pairs: `block.cached(received, measure)` computes a sum once.

In a pair of a query and a key neither is padding, and a decoder's query sees no later key of its own text.
"""

from __future__ import annotations

from headscope.later import Tensor, torch
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


def keys_in_sight(block: ScoreBlock, first_key: int = 0) -> Tensor:
    """How many keys from `first_key` on a row may see: (batch, row), whatever it is at padding.

    A decoder's rows see what is not after them; windows and chunks are not taken into account.
    """
    seen = block.key_mask.sum(-1)[:, None].expand_as(block.row_mask)
    return (torch.minimum(seen, block.row_positions + 1) if block.is_causal else seen) - first_key


def first_row(block: ScoreBlock) -> Tensor:
    """The first query that can see each key: (key,), int64."""
    return block.key_positions if block.is_causal else torch.zeros_like(block.key_positions)


def visible(block: ScoreBlock, rows: range | None = None) -> Tensor:
    """How many queries see each key: (batch, key), int64; 0 at padding. Of `rows`, or of the whole text."""
    lengths = block.query_lengths[:, None]
    stop = lengths if rows is None else lengths.clamp(max=rows.stop)
    start = first_row(block) if rows is None else first_row(block).clamp(min=rows.start)
    return (stop - start).clamp(min=0) * block.key_mask
