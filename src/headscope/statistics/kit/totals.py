"""Sums over a block that several statistics need: each is computed once a block and measure."""

from __future__ import annotations

from torch import Tensor

from headscope.lens.block import AttentionBlock


def received(block: AttentionBlock, measure: str) -> Tensor:
    """What every key gets from all rows: (batch, head, key)."""
    return block.once(f"received {measure}", lambda: block.scores(measure).sum(2))


def given(block: AttentionBlock, measure: str) -> Tensor:
    """What every row gives to all keys: (batch, head, row); 1 for weights without sinks, 0 at padding."""
    return block.once(f"given {measure}", lambda: block.scores(measure).sum(3))


def total(block: AttentionBlock, measure: str) -> Tensor:
    """All scores of a head: (head,)"""
    return block.once(f"total {measure}", lambda: received(block, measure).sum((0, 2)))


def queries(block: AttentionBlock) -> float:
    """How many rows are not padding."""
    return float(block.row_mask.sum())
