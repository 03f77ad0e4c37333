"""A block's rows in one compiled sweep (kernels/rows.py), for all measures that it serves: on a CPU, in float32."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from headscope.kernels.threads import on_cpu, shared
from headscope.later import Later, Tensor, torch
from headscope.lens import ScoreBlock
from headscope.lens.block import KeySide
from headscope.measures import MEASURES
from headscope.statistics.kit.categories import beyond_sinks
from headscope.statistics.kit.sweeps import FACTORS, key_factor, swept_scores

kernel: Any = Later("headscope.kernels.rows")


class SweptRows(NamedTuple):
    """(batch, head, row) each, but for the last. Negative scores are not swept."""

    beyond_first: Tensor  # the sum of s over all keys but the first
    informed_beyond_first: Tensor  # the sum of s log s there
    informed_beyond_sinks: Tensor  # the same over the keys that are no sinks
    beyond_sinks: Tensor  # and the sum of s there
    largest: Tensor  # the most that goes to any key
    spanned: Tensor  # what goes to others than the first, times how far away they are
    received: Tensor  # batch head key: what each key gets from all rows


def can_sweep(block: ScoreBlock, measures: tuple[str, ...]) -> bool:
    """Whether the compiled sweep serves them; PyTorch's operations do elsewhere."""
    return on_cpu(block.weights) and not any(MEASURES[measure].signed for measure in measures)


def swept_rows(block: ScoreBlock, measures: tuple[str, ...]) -> list[SweptRows]:
    """Of `measures`, which are those of `swept_with`."""
    scores = swept_scores(block, measures).contiguous()
    texts, heads, rows, keys = scores.shape
    factors, logarithms = _factors(block, measures, texts * heads, keys)
    found = scores.new_empty(len(measures), len(kernel.FIELDS), texts, heads, rows)
    received = scores.new_empty(texts, heads, keys)
    kept = beyond_sinks(block).to(scores.dtype)
    flat = scores.flatten(0, 1), kept, factors, logarithms
    filled = found.flatten(2, 3), received.flatten(0, 1)
    arrays = [array.numpy() for array in (*flat, *filled)]
    shared(kernel.sweep_rows, texts * heads, scores.numel(), *arrays[:4], block.rows.start, *arrays[4:])
    of_keys = [key_factor(block, measure) for measure in measures]
    return [
        SweptRows._make((*own.unbind(), received if factor is None else received * factor))
        for own, factor in zip(found, of_keys, strict=True)
    ]


def _factors(block: ScoreBlock, measures: tuple[str, ...], maps: int, keys: int) -> tuple[Tensor, Tensor]:
    """(measure, map, key): what the scores are multiplied with, f, and f log2 f; where f is 1, that is not a number."""
    if any(key_factor(block, measure) is not None for measure in measures):
        return block.key_side.cached(_factors_of_keys, measures)  # type: ignore[attr-defined]
    one = torch.ones(len(measures), maps, keys)
    return one, one * torch.nan


def _factors_of_keys(side: KeySide, measures: tuple[str, ...]) -> tuple[Tensor, Tensor]:
    known = {name: side.cached(FACTORS[name]).flatten(0, 1) for name in measures if name in FACTORS}
    one = torch.ones_like(next(iter(known.values())))
    factors = torch.stack([known.get(name, one) for name in measures])
    logarithms = torch.xlogy(factors, factors) / math.log(2)
    for place, name in enumerate(measures):
        if name not in known:
            logarithms[place] = torch.nan
    return factors, logarithms
