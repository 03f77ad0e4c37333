"""What a head writes in a text: the tokens that its output makes more and less likely, along the direct path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.errors import InputError
from headscope.later import Tensor, pd, torch
from headscope.lens import watching
from headscope.lens.direct import DirectPass
from headscope.lens.head import Head, heads_named
from headscope.writing.places import position_of
from headscope.writing.vocabulary import named

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock
    from headscope.lens.reading import Reading


def head_output(block: AttentionBlock, head: int, row: int) -> Tensor:
    """sum_j alpha_ij f_h(x_j) of one head and row of the first text: (d_model,)"""
    summed = block.weights[0, head, row] @ block.values[0, head]
    if block.gates is not None:
        here = block.gates[:1, row : row + 1, head : head + 1]
        summed = watching.behind(here, summed[None, None, None])[0, 0, 0]
    return summed @ block.key_side.projection.matrices[head]


def writes_of(reading: Reading, head: str | Head, *, at: int | None = None, count: int = 10) -> pd.DataFrame:
    """See `Reading.writes`."""
    position = position_of(reading, at)
    return written_by(DirectPass(reading.lens, reading.batch), reading, head, position, count)


def written_by(run: DirectPass, reading: Reading, head: str | Head, position: int, count: int) -> pd.DataFrame:
    """`token`, `id`, `logit`: the `count` largest, and then the `count` smallest, the smallest last."""
    (chosen,) = heads_named([head], reading.sites)
    block = next(b for s, b in reading.blocks.items() if (s.stack, s.kind, s.layer) == chosen[:3])
    if not run.joins(block.site):
        raise InputError(f"{chosen.name} does not write to the stream that words are predicted from: name a decoder's head.")
    kept = most_and_least(run.written(block.site, head_output(block, chosen.head, position)[None], position)[0], count)
    tokens = [named(reading.lens, number).text for number, _ in kept]
    return pd.DataFrame({"token": tokens, "id": [number for number, _ in kept], "logit": [logit for _, logit in kept]})


def most_and_least(logits: Tensor, count: int) -> list[tuple[int, float]]:
    """The numbers of the `count` tokens with the largest (vocabulary,) and of those with the smallest, which come last.

    What is added to all tokens alike changes nothing, and is taken off.

    >>> most_and_least(torch.tensor([1.0, 5.0, 3.0, 3.0]), 1)
    [(1, 2.0), (0, -2.0)]
    """
    apart = logits.double() - logits.double().mean()
    order = torch.argsort(apart, descending=True, stable=True).tolist()
    kept = order if 2 * count >= len(order) else [*order[:count], *order[-count:]]
    return [(number, float(apart[number])) for number in kept]
