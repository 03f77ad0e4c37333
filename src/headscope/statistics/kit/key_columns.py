"""Sums over the keys of every row as one thin product: a column for each kind of keys, and each measure, that is summed.

The kinds are all keys but the first, and those that are no sinks. A column is 1 at its keys and 0 elsewhere, times the
measure's factor: sum_j alpha_ij ||f(x_j)|| is such a product, and so is what an entropy by norm needs, because with s = a f

    s log s = f (a log a) + a (f log f).
"""

from __future__ import annotations

from typing import NamedTuple

from headscope.later import Tensor, torch
from headscope.lens import AttentionBlock, ScoreBlock
from headscope.lens.block import KeySide
from headscope.lens.side import Side
from headscope.statistics.kit.categories import beyond_sinks_of
from headscope.statistics.kit.sweeps import FACTORS, key_factor

_COLUMNS = 4  # what a processor's kernels make at a time; fewer take longer
KINDS = OTHERS, NO_SINKS = range(2)


class KeyColumns(NamedTuple):
    """(batch, head, column, key) each, kind by kind, and in each kind measure by measure; one head if all have the same."""

    factors: Tensor
    with_logarithms: Tensor  # the same, and after them f log f for every factor f; just the same where all factors are 1


def key_columns(block: ScoreBlock, measures: tuple[str, ...]) -> KeyColumns:
    """Of measures that are the weights times a factor, or of any other one."""
    if isinstance(block, AttentionBlock) and any(key_factor(block, measure) is not None for measure in measures):
        return block.key_side.cached(_with_factors, block.attended, block.key_mask, block.is_causal, measures)
    kinds = block.attended.cached(_kinds, block.key_mask, block.is_causal, block.weights.dtype)[:, None]
    return KeyColumns(kinds, kinds)


def onto(scores: Tensor, columns: Tensor) -> Tensor:
    """(text, head, row, key), (text, head or 1, column, key) -> (text, head, column, row): every row's sums.

    Head by head, with the thin side first and at least four columns: one product of all heads with three takes more than
    twice as long, the other way round more than four times.
    """
    texts, heads, rows, keys = scores.shape
    count = columns.shape[2]
    if count < _COLUMNS:
        columns = torch.cat([columns, columns.new_zeros(*columns.shape[:2], _COLUMNS - count, keys)], 2)
    made = torch.bmm(columns.expand(-1, heads, -1, -1).flatten(0, 1), scores.flatten(0, 1).mT)
    return made.view(texts, heads, -1, rows)[:, :, :count]


def part_of(columns: Tensor, texts: slice, heads: slice) -> Tensor:
    """The columns of some texts and heads."""
    return columns[texts] if columns.shape[1] == 1 else columns[texts, heads]


def _kinds(side: Side, mask: Tensor, causal: bool, dtype: torch.dtype) -> Tensor:
    """(batch, kind, key), 1 or 0."""
    kept = side.cached(beyond_sinks_of, mask, causal)
    first = torch.zeros_like(kept)
    first[:, 0] = True
    return torch.stack([~first, kept], 1).to(dtype)


def _with_factors(keys: KeySide, side: Side, mask: Tensor, causal: bool, measures: tuple[str, ...]) -> KeyColumns:
    known = {name: keys.cached(FACTORS[name]) for name in measures if name in FACTORS}
    one = torch.ones_like(next(iter(known.values())))
    factors = torch.stack([known.get(name, one) for name in measures], 2)  # batch head measure key
    kinds = side.cached(_kinds, mask, causal, one.dtype)[:, None, :, None]  # batch 1 kind 1 key
    columns, logarithms = ((kinds * of[:, :, None]).flatten(2, 3) for of in (factors, torch.xlogy(factors, factors)))
    return KeyColumns(columns, torch.cat([columns, logarithms], 2))
