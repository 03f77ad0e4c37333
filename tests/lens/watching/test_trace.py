"""What is taken for attention in a pass, and what is not; norms there equal those of the vectors, spelled out."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import headscope
from headscope.errors import NormsUnavailable
from headscope.lens.block import AttentionBlock
from headscope.lens.tokens.batch import Batch
from tests.architectures.tiny_models import TinyModel, build

# What ConvBERT's W_O reads has the heads' features first, and behind them those of a convolution.
OUTPUTS = {
    "convbert": "convbert.encoder.layer.{}.attention.output.dense",
    "gemma3n": "model.language_model.layers.{}.self_attn.o_proj",
}


def read(tiny: TinyModel) -> tuple[list[AttentionBlock], list[str]]:
    found: list[AttentionBlock] = []
    with headscope.open(tiny.model) as lens:
        lens.run(Batch(tiny.inputs), found.append)
        return found, lens.trace.skipped


@pytest.mark.parametrize("model_type", OUTPUTS)
def test_norms_are_those_of_the_vectors(model_type: str) -> None:
    tiny = build(model_type)
    blocks, skipped = read(tiny)
    assert len(blocks) > 1
    assert skipped == []
    for layer, block in enumerate(blocks):
        output = tiny.model.get_submodule(OUTPUTS[model_type].format(layer))
        assert isinstance(output, nn.Linear)
        heads, size = block.site.heads, block.site.head_size
        by_heads = output.weight.detach().T[: heads * size].unflatten(0, (heads, size))
        values = block.values.repeat_interleave(heads // block.values.shape[1], 1)
        vectors = torch.einsum("bhij,bhjd,hdm->bhijm", block.weights, values, by_heads)
        norms = vectors.norm(dim=-1) * block.key_mask[:, None, None]
        torch.testing.assert_close(block.scores("norm"), norms, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("model_type", ["funnel", "pegasus_x", "prophetnet", "blt"])
def test_softmaxes_of_queries_and_keys_that_are_not_read_are_named(model_type: str) -> None:
    assert read(build(model_type))[1] != []


@pytest.mark.parametrize("model_type", ["convbert", "diffllama"])
def test_what_w_o_reads_beside_the_heads_leaves_no_block_norm(model_type: str) -> None:
    """It is added to the stream too, and moves the scale of the norm behind: of the heads alone, both would be wrong."""
    blocks, _ = read(build(model_type))
    assert not any(block.site.residual for block in blocks)
    with pytest.raises(NormsUnavailable, match="use the measure 'joint_norm'"):
        blocks[0].scores("block_norm")
