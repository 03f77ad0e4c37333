"""A block's map, a part at a time: what is made of it on the way stays in the processor's cache, and goes again.

A pass over a map that is held whole in a second, third and fourth version waits for the memory, not for the processor. And
a map by norm need not be there at all: it is the weights times one number a key, so what is made of the weights on the way
serves both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeGuard

from headscope.later import Tensor, torch
from headscope.lens import AttentionBlock, ScoreBlock
from headscope.measures.value_norm import value_norms_of

PART = 500_000  # numbers of a part on a CPU: two megabytes stay near a core; other devices take all at once

FACTORS = {"norm": value_norms_of}  # measures that are the weights times (batch, head, key)


def key_factor(block: ScoreBlock, measure: str) -> Tensor | None:
    """(batch, head, key), where the scores are the weights times that; None where they are not, or it is 1."""
    if measure not in FACTORS or not _has_factors(block):
        return None
    return block.key_side.cached(FACTORS[measure])


def swept_with(block: ScoreBlock, measure: str) -> tuple[str, ...]:
    """The measures that one sweep serves, this one among them: those of the same weights that somebody asks for."""
    alike = ("weight", *FACTORS)
    if measure not in alike or not _has_factors(block):
        return (measure,)
    return tuple(one for one in alike if one == measure or one in block.asked)


def _has_factors(block: ScoreBlock) -> TypeGuard[AttentionBlock]:
    return isinstance(block, AttentionBlock) and not block.site.gated


def sweep(
    block: ScoreBlock, measures: tuple[str, ...], make: Callable[[Tensor, slice, slice], tuple[Tensor, ...]]
) -> tuple[Tensor, ...]:
    """What `make` makes of all scores, joined: from (text, head, row, key), and which texts and heads they are, to
    (text, head, ...) each. The scores are the weights, where `measures` (of `swept_with`) are these times a factor."""
    return by_parts(swept_scores(block, measures), make)


def swept_scores(block: ScoreBlock, measures: tuple[str, ...]) -> Tensor:
    """What a sweep goes over: the weights, where the measures are these times a factor, else the scores themselves."""
    own = len(measures) == 1 and key_factor(block, measures[0]) is None
    return block.scores(measures[0]) if own else block.weights


def by_parts(whole: Tensor, make: Callable[[Tensor, slice, slice], tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    """The same of any maps (text, head, row, key)."""
    rows = []
    for texts, parts in _parts(whole):
        made = [make(whole[texts, heads], texts, heads) for heads in parts]
        rows.append(tuple(torch.cat(same, 1) if len(same) > 1 else same[0] for same in zip(*made, strict=True)))
    return tuple(torch.cat(same) if len(same) > 1 else same[0] for same in zip(*rows, strict=True))


def _parts(scores: Tensor) -> Iterator[tuple[slice, list[slice]]]:
    """Which texts, and which of their heads, are a part each: some texts with all heads, or a text with some."""
    texts, heads, rows, keys = scores.shape
    if scores.device.type != "cpu":
        yield slice(0, texts), [slice(0, heads)]
        return
    heads_at_once = min(heads, max(1, PART // max(1, rows * keys)))
    texts_at_once = max(1, PART // max(1, heads * rows * keys))
    for text in range(0, texts, texts_at_once):
        yield (
            slice(text, text + texts_at_once),
            [slice(head, head + heads_at_once) for head in range(0, heads, heads_at_once)],
        )
