"""Sums over a block that several statistics need, and its pairs: `block.cached(received, measure)` computes a sum once.

In a pair of a query and a key neither is padding, and a decoder's query sees no later key of its own text.
"""

from __future__ import annotations

from typing import NamedTuple

from headscope.later import Tensor, torch
from headscope.lens.score_block import ScoreBlock
from headscope.lens.side import Side
from headscope.statistics.kit.sweeps import key_factor, sweep, swept_with
from headscope.statistics.kit.swept_rows import can_sweep, swept_rows


def received(block: ScoreBlock, measure: str) -> Tensor:
    """What every key gets from all rows: (batch, head, key)."""
    measures = swept_with(block, measure)
    if can_sweep(block, measures):
        return block.cached(swept_rows, measures)[measures.index(measure)].received
    factor = key_factor(block, measure)
    return block.scores(measure).sum(2) if factor is None else block.cached(received, "weight") * factor


class Reach(NamedTuple):
    """What the rows of a head reach for."""

    largest: Tensor  # the most that goes to any key: (batch, head, row)
    spanned: Tensor  # what goes to others than the first, times how far away they are: (batch, head)


def reach(block: ScoreBlock, measure: str) -> Reach:
    """That of a block, computed once, with that of all measures that one sweep serves."""
    measures = swept_with(block, measure)
    return block.cached(_reach, measures)[measures.index(measure)]


def _reach(block: ScoreBlock, measures: tuple[str, ...]) -> list[Reach]:
    if can_sweep(block, measures):
        return [Reach(found.largest, found.spanned.sum(2)) for found in block.cached(swept_rows, measures)]
    factors = [key_factor(block, measure) for measure in measures]
    apart = block.attended.cached(_apart, block.rows, block.weights.shape[-1], block.weights.dtype, block.weights.device)

    def make(scores: Tensor, texts: slice, heads: slice) -> tuple[Tensor, ...]:
        found: list[Tensor] = []
        for factor in factors:
            own = scores if factor is None else scores * factor[texts, heads, None]
            found += [own.amax(3), own.flatten(2) @ apart.flatten()]
        return tuple(found)

    found = sweep(block, measures, make)
    return [Reach(*found[2 * place : 2 * place + 2]) for place in range(len(measures))]


def _apart(side: Side, rows: range, keys: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """How far each row is from each key, and 0 for the first key: (row, key)."""
    places = torch.arange(rows.start, rows.stop, device=device)
    apart = (places[:, None] - torch.arange(keys, device=device)).abs().to(dtype)
    apart[:, 0] = 0
    return apart


def on_first(block: ScoreBlock, measure: str) -> Tensor:
    """What every row gives to the first key: (batch, head, row)."""
    factor = key_factor(block, measure)
    return block.scores(measure)[..., 0] if factor is None else block.weights[..., 0] * factor[:, :, :1]


def on_diagonal(block: ScoreBlock, measure: str, offset: int) -> Tensor:
    """What rows give to the key `offset` places behind their own: (batch, head, place), from the first row that has one."""
    place = block.rows.start + offset
    factor, first = key_factor(block, measure), max(place, 0)
    diagonal = (block.weights if factor is not None else block.scores(measure)).diagonal(place, dim1=2, dim2=3)
    return diagonal.contiguous() if factor is None else diagonal * factor[..., first : first + diagonal.shape[-1]]


def total(block: ScoreBlock, measure: str) -> Tensor:
    """All scores of a head: (head,)"""
    return block.cached(received, measure).sum((0, 2))


def queries(block: ScoreBlock) -> Tensor:
    """How many rows are not padding: ()"""
    return block.row_mask.sum()


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
