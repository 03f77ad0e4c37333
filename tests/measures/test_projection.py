"""Parts along a direction: against full tensors, and their laws; the sum of a row is 1."""

from __future__ import annotations

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import headscope
from headscope.errors import InputError
from headscope.lens.block import AttentionBlock
from headscope.lens.tokens.batch import Batch
from headscope.measures.projection import projections
from headscope.statistics import STATISTICS
from tests.architectures.tiny_models import build
from tests.measures.test_against_textbook import LENGTHS, TARGETS, captured, expected, lens_for
from tests.tiny import FAMILIES, tiny, tiny_inputs
from tests.tiny_tokenizers import tiny_tokenizer


@pytest.mark.parametrize("family", FAMILIES)
@given(rows=st.one_of(st.none(), st.integers(1, 12)))
def test_projection_equals_full_tensors(family: str, rows: int | None) -> None:
    """alpha <f(x_j), y_i> / ||y_i||^2 with every vector spelled out; any split into blocks, with padding."""
    layers = captured(family, "projection", rows)
    for index, texts in enumerate(expected(family)):
        for scores, by_hand in zip(layers, texts, strict=True):
            vectors = by_hand.weighted  # head query key d_model
            output = vectors.sum((0, 2))
            wanted = torch.einsum("hijd,id->hij", vectors, output / output.square().sum(-1, keepdim=True))
            queries = TARGETS[index] if family == "marian" else LENGTHS[index]
            ours = scores[index, :, :queries, : wanted.shape[-1]]
            torch.testing.assert_close(ours, wanted, rtol=1e-4, atol=1e-5 * float(wanted.abs().max()))
            torch.testing.assert_close(ours.sum((0, 2)), torch.ones(queries), rtol=1e-4, atol=1e-4)
            assert not scores[index, ..., wanted.shape[-1] :].any(), "padding keys must score zero"
            assert not scores[index, :, queries:].any(), "padding rows must score zero"


def blocks_of(architecture: str) -> list[AttentionBlock]:
    tiny = build(architecture)
    found: list[AttentionBlock] = []
    with headscope.open(tiny.model) as lens:
        lens.run(Batch({name: tensor[:1] for name, tensor in tiny.inputs.items()}), found.append, rows=None)
    return found


@pytest.mark.parametrize("architecture", ["bert", "gpt2", "llama", "gemma2", "opt", "olmo2", "granite", "gptj"])
def test_parts_of_the_stream_sum_to_one(architecture: str) -> None:
    """Heads, b_O, a norm's bias and the stream before them: the vectors that are added, along their own sum."""
    for block in blocks_of(architecture):
        around, residual = block.joining.surroundings, block.joining.residual
        projection = block.key_side.projection
        bias = getattr(projection.module, "bias", None)
        bias = torch.zeros(residual.shape[-1]) if bias is None else bias.detach()
        heads = torch.einsum("bhij,bhjd,hde->bhije", block.weights, block.values, projection.matrices)
        output = heads.sum((1, 3)) + bias
        c = around.factor  # what GPT-J's MLP adds beside is not the attention's
        if around.inner is None:
            total, of_heads, rest = residual + c * output, c * heads, residual + c * bias
        else:
            scale = around.inner.scale(output)
            total = residual + c * around.inner(output)
            of_heads = c * around.inner.linear(heads) / scale[:, None, :, None]
            rest = residual + c * (around.inner.linear(bias) / scale + around.inner.bias)
        along = total / total.square().sum(-1, keepdim=True)
        wanted = torch.einsum("bhijd,bid->bhij", of_heads, along)
        scores = block.scores("stream_projection")
        torch.testing.assert_close(scores, wanted, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(scores.sum((1, 3)) + (rest * along).sum(-1), torch.ones(scores.shape[::2][:2]))


def test_the_stream_is_the_model_s_own_where_it_scales_what_joins_it() -> None:
    """Granite adds 0.22 times the attention's output: parts along what the model itself hands on, not along our own sum."""
    made, factor = build("granite"), 0.22
    model = copy.deepcopy(made.model)
    layers = [module for module in model.modules() if type(module).__name__ == "GraniteDecoderLayer"]
    streams: list[torch.Tensor] = []
    for layer in layers:
        layer.residual_multiplier = factor
        layer.post_attention_layernorm.register_forward_pre_hook(lambda _, given: streams.append(given[0].detach().clone()))
    found: list[AttentionBlock] = []
    with headscope.open(model) as lens:
        streams.clear()
        lens.run(Batch({name: tensor[:1] for name, tensor in made.inputs.items()}), found.append, rows=None)
    assert len(found) == len(streams) == len(layers)
    for block, stream in zip(found, streams, strict=True):
        vectors = torch.einsum("bhij,bhjd,hde->bhije", block.weights, block.values, block.key_side.projection.matrices)
        along = stream / stream.square().sum(-1, keepdim=True)
        wanted = factor * torch.einsum("bhijd,bid->bhij", vectors, along)
        scores = block.scores("stream_projection")
        torch.testing.assert_close(scores, wanted, rtol=1e-4, atol=1e-5 * float(wanted.abs().max()))
        before = stream - factor * vectors.sum((1, 3))
        torch.testing.assert_close(scores.sum((1, 3)) + (before * along).sum(-1), torch.ones(stream.shape[:2]))


def test_by_hand() -> None:
    """Two keys, one head: half of (2, 0) and half of (0, 4) along u = (1, 1)."""
    weights, values = torch.full((1, 1, 1, 2), 0.5), torch.tensor([[[[2.0, 0.0], [0.0, 4.0]]]])
    found = projections(weights, values, torch.eye(2)[None], torch.ones(1, 1, 2))
    assert found.flatten().tolist() == [1.0, 2.0]
    gated = projections(weights, values, torch.eye(2)[None], torch.ones(1, 1, 2), torch.tensor([[[[1.0, -1.0]]]]))
    assert gated.flatten().tolist() == [1.0, -2.0]


def test_gates_are_part_of_a_head_s_vectors() -> None:
    blocks = [block for block in blocks_of("qwen3_next") if block.gates is not None]
    assert blocks
    for block in blocks:
        torch.testing.assert_close(block.scores("projection").sum((1, 3)), torch.ones(1, block.weights.shape[2]))


def test_a_study_by_projection_has_each_head_s_share_of_the_output() -> None:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        run = headscope.study(lens, ["the cat sat on the mat", "a dog"], [STATISTICS["strength"](measure="projection")])
    shares = run["strength_projection"].groupby("layer")["strength"].sum()
    assert shares.tolist() == pytest.approx([1, 1, 1], abs=1e-4)


def test_a_direction_of_your_own() -> None:
    lens = lens_for("gpt2")
    found: list[AttentionBlock] = []
    lens.run(Batch(tiny_inputs("gpt2", (9,))), found.append, rows=None)
    reading = headscope.Reading(found, found[0].batch)
    u = torch.randn(32, generator=torch.Generator().manual_seed(0))
    scores = reading.toward(u).scores("projection", layer=1)
    block = found[1]
    matrices = block.key_side.projection.matrices
    wanted = torch.einsum("hij,hjd,hde,e->hij", block.weights[0], block.values[0], matrices, u)
    torch.testing.assert_close(scores, wanted, rtol=1e-4, atol=1e-5)
    rows = torch.randn(9, 32, generator=torch.Generator().manual_seed(1))
    only = reading.toward({found[0].site: rows})
    torch.testing.assert_close(only.scores("projection", layer=1), reading.scores("projection", layer=1))
    assert not torch.allclose(only.scores("projection", layer=0), reading.scores("projection", layer=0))
    with pytest.raises(InputError, match="a direction has 32 numbers here, not 31"):
        reading.toward(u[1:])
