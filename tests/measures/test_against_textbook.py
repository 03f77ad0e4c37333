"""Every measure equals the textbook's full tensors: four families, padding, any split into row blocks."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import headscope
from headscope.lens.tokens.batch import Batch
from tests.textbook import Textbook, textbook
from tests.tiny import FAMILIES, tiny, tiny_inputs

MEASURES = ("weight", "value_norm", "norm", "joint_norm", "effective")
LENGTHS, TARGETS = (9, 6), (7, 4)


@cache
def expected(family: str) -> list[list[Textbook]]:
    """For each text of the batch, alone and unpadded: each layer."""
    model, inputs = tiny(family), tiny_inputs(family, LENGTHS, TARGETS)
    targets = inputs.get("decoder_input_ids")
    return [
        textbook(
            family,
            model,
            inputs["input_ids"][index, : LENGTHS[index]],
            None if targets is None else targets[index, : TARGETS[index]],
        )
        for index in range(2)
    ]


@cache
def lens_for(family: str) -> headscope.Lens:
    return headscope.open(tiny(family))


def captured(family: str, measure: str, rows: int | None) -> list[torch.Tensor]:
    """The measure in every layer, rows put together again: (batch, head, row, key)."""
    found: dict[headscope.Site, list[torch.Tensor]] = {}

    def receive(block: headscope.AttentionBlock) -> None:
        if block.site.kind == ("cross" if family == "marian" else "self"):
            found.setdefault(block.site, []).append(block.scores(measure))

    lens_for(family).run(Batch(tiny_inputs(family, LENGTHS, TARGETS)), receive, rows=rows)
    return [torch.cat(blocks, dim=2) for blocks in found.values()]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("measure", MEASURES)
@given(rows=st.one_of(st.none(), st.integers(1, 12)))
def test_measure_equals_textbook(family: str, measure: str, rows: int | None) -> None:
    layers = captured(family, measure, rows)
    assert len(layers) == len(expected(family)[0])
    for index, texts in enumerate(expected(family)):
        for scores, by_hand in zip(layers, texts, strict=True):
            wanted = getattr(by_hand, measure)
            keys = wanted.shape[-1]
            queries = TARGETS[index] if family == "marian" else LENGTHS[index]
            ours = scores[index, :, :queries, :keys]
            if measure == "value_norm":
                ours = ours[:, 0]
            torch.testing.assert_close(ours, wanted, rtol=1e-5, atol=1e-5 * float(wanted.abs().max()))
            assert not scores[index, ..., keys:].any(), "padding keys must score zero"
            if measure != "value_norm":
                assert not scores[index, :, queries:].any(), "padding rows must score zero"


@pytest.mark.parametrize("family", FAMILIES)
def test_batch_order_does_not_matter(family: str) -> None:
    inputs = tiny_inputs(family, LENGTHS, TARGETS)
    for measure in MEASURES:
        one, other = [], []
        lens = lens_for(family)
        lens.run(Batch(inputs), lambda block, m=measure, to=one: to.append(block.scores(m)))
        lens.run(
            Batch({k: v.flip(0) for k, v in inputs.items()}), lambda block, m=measure, to=other: to.append(block.scores(m))
        )
        for scores, flipped in zip(one, other, strict=True):
            torch.testing.assert_close(scores, flipped.flip(0), rtol=1e-4, atol=1e-5)
