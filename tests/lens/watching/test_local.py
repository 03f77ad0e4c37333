"""Attention in windows and chunks, as rows over all tokens: equal to dense attention with a mask, from queries and keys."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import headscope
from headscope.errors import ModelError
from headscope.lens.block import AttentionBlock
from headscope.lens.tokens.batch import Batch
from tests.architectures.tiny_models import TinyModel, build


def read(tiny: TinyModel, rows: int | None = None) -> list[AttentionBlock]:
    found: list[AttentionBlock] = []
    with headscope.open(tiny.model) as lens:
        lens.run(Batch(tiny.inputs), found.append, rows=rows)
    return [block for block in found if block.site.capture == "values"]


def outputs(tiny: TinyModel, block: AttentionBlock, *names: str) -> list[Tensor]:
    """What the layers of an attention returned in the model's own pass: (batch, head, token, d) each."""
    module, kept = tiny.model.get_submodule(block.site.module), {}

    def keep(name: str) -> Any:
        return lambda layer, given, output: kept.update({name: output.clone()})  # some scale it in place

    hooks = [getattr(module, name).register_forward_hook(keep(name)) for name in names]
    with torch.no_grad():
        tiny.model(**tiny.inputs)
    for hook in hooks:
        hook.remove()
    batch, length = tiny.inputs["input_ids"].shape
    return [by_head(kept[name], batch, block.site.heads)[:, :, :length] for name in names]


def by_head(vectors: Tensor, batch: int, heads: int) -> Tensor:
    if len(vectors) != batch:  # Longformer has (token, batch, d)
        vectors = vectors.transpose(0, 1)
    return vectors.unflatten(-1, (heads, -1)).transpose(1, 2)


def in_window(length: int, most: int) -> Tensor:
    positions = torch.arange(length)
    return (positions[:, None] - positions).abs() <= most


@pytest.mark.parametrize("rows", [None, 4])
def test_longformer_is_attention_in_a_window(rows: int | None) -> None:
    tiny = build("longformer")
    blocks = read(tiny)
    assert len(blocks) == tiny.model.config.num_hidden_layers
    for block in blocks:
        query, key = outputs(tiny, block, "query", "key")
        seen = in_window(query.shape[2], tiny.model.config.attention_window[0] // 2) & block.key_mask[:, None, None]
        scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(~seen, float("-inf"))
        expected = scores.softmax(-1).nan_to_num() * block.row_mask[:, None, :, None]
        parts = [part.weights for part in read(tiny, rows) if part.site == block.site]
        torch.testing.assert_close(torch.cat(parts, 2), expected, rtol=1e-4, atol=1e-6)


def test_longt5_sees_its_own_block_and_its_neighbours() -> None:
    tiny = build("longt5")
    blocks = read(tiny)
    assert blocks
    for block in blocks:
        assert (block.weights > 0).any()
        length = block.weights.shape[2]
        assert not (block.weights * ~in_window(length, tiny.model.config.local_radius)).any()
        sums = block.weights.sum(-1).transpose(1, 2)[block.row_mask]
        torch.testing.assert_close(sums, torch.ones_like(sums), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("model_type", ["longformer", "longt5", "reformer", "led"])
def test_norms_are_those_of_the_vectors(model_type: str) -> None:
    tiny = build(model_type)
    for block in read(tiny):
        output: Any = block.key_side.projection.module
        assert isinstance(output, nn.Linear)
        by_heads = output.weight.detach().T.unflatten(0, (block.site.heads, -1))
        vectors = torch.einsum("bhij,bhjd,hdm->bhijm", block.weights, block.values, by_heads)
        norms = vectors.norm(dim=-1) * block.key_mask[:, None, None]
        torch.testing.assert_close(block.scores("norm"), norms, rtol=1e-4, atol=1e-5)


def test_gradients_of_such_weights_are_refused() -> None:
    tiny = build("longformer")
    with headscope.open(tiny.model) as lens, pytest.raises(ModelError, match="windows, chunks or blocks"):
        lens.run_gradients(Batch(tiny.inputs), lambda block: None)
