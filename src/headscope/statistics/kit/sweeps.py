"""A block's map, a part at a time: what is made of it on the way stays in the processor's cache, and goes again.

A pass over a map that is held whole in a second, third and fourth version waits for the memory, not for the processor. And
a map by norm need not be there at all: it is the weights times one number a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from headscope.later import Tensor, torch
from headscope.lens import AttentionBlock, ScoreBlock
from headscope.measures.value_norm import value_norms_of

PART = 250_000  # numbers of a part on a CPU: a megabyte, as much as a core's own cache has; other devices take all at once

FACTORS = {"norm": value_norms_of}  # measures that are the weights times (batch, head, key)


def key_factor(block: ScoreBlock, measure: str) -> Tensor | None:
    """(batch, head, key), where the scores are the weights times that; None where they are not, or it is 1."""
    if measure not in FACTORS or not isinstance(block, AttentionBlock) or block.site.gated:
        return None
    return block.key_side.cached(FACTORS[measure])


def sweep(block: ScoreBlock, measure: str, make: Callable[[Tensor, slice], tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    """What `make` makes of all scores, joined: from (text, head, row, key) and which texts they are to (text, head, ...)."""
    factor = key_factor(block, measure)
    whole = block.weights if factor is not None else block.scores(measure)
    rows = []
    for texts, parts in _parts(whole):
        made = []
        for heads in parts:
            scores = whole[texts, heads]
            made.append(make(scores if factor is None else scores * factor[texts, heads, None], texts))
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
