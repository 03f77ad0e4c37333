"""dL / d alpha is that of the model's own eager pass and of finite differences, whatever the batch and the blocks."""

from __future__ import annotations

import copy
import gc
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import headscope
from headscope.errors import ModelError
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.losses import NOTHING, NextToken, Prediction, own_loss, text_losses
from headscope.lens.watching.functions import from_einsum, fused
from headscope.lens.watching.gradients import GradientBlock, _Rows
from headscope.lens.watching.interface import AttentionCall
from tests.architectures.tiny_models import build
from tests.lens.language_models import (
    FAMILIES,
    documents,
    gradients_of,
    language_model,
    lens_for,
    own_gradients,
)


class Given:
    """Some positions that predict the token after them."""

    def prepare(self, batch: Batch) -> Prediction:
        ids = batch.inputs.get("decoder_input_ids", batch.inputs["input_ids"])
        targets = torch.full_like(ids, NOTHING)
        targets[0, 2], targets[0, 4], targets[1, 1] = ids[0, 3], ids[0, 5], ids[1, 2]
        return Prediction(batch.inputs, targets)


def assert_own(found: dict, own: dict) -> None:
    """What the lens showed equals the model's own, wherever a row sees a key, and is zero elsewhere."""
    compared = 0
    for place, layers in own.items():
        blocks = [block for site, block in found.items() if place in (None, (site.stack, site.kind))]
        blocks.sort(key=lambda block: block.site.index)
        for block, (weights, gradients) in zip(blocks, layers, strict=True):
            largest = float(block.gradients.abs().max())
            torch.testing.assert_close(block.gradients, gradients * block.seen, rtol=1e-4, atol=1e-4 * largest)
            torch.testing.assert_close(block.weights, weights * block.seen, rtol=1e-4, atol=1e-5)
            assert largest > 1e-3
            compared += 1
    assert compared == len(found)


@pytest.mark.parametrize("rows", [None, 3])
@pytest.mark.parametrize("family", FAMILIES)
def test_equals_the_models_own_backward_pass(family: str, rows: int | None) -> None:
    lens = lens_for(family)
    batch = lens.encoder.batch(documents(family))
    found = gradients_of(lens, batch, rows=rows)
    assert_own(found, own_gradients(language_model(family), own_loss(lens).prepare(batch)))


# Matrix products, batched products, einsum, and biases inside the attention; then masks made of hidden states, and sinks.
@pytest.mark.parametrize("model_type", ["bloom", "deberta-v2", "falcon", "openai-gpt", "doge", "gpt_oss", "t5"])
def test_equals_the_models_own_backward_pass_in_other_architectures(model_type: str) -> None:
    built = build(model_type)
    with headscope.open(built.model) as lens:
        found = gradients_of(lens, Batch(built.inputs), Given(), rows=4)
    assert_own(found, own_gradients(built.model, Given().prepare(Batch(built.inputs))))


def test_weights_named_by_letters_against_their_formula() -> None:
    """XLNet: `bnij,jbnd->ibnd`; its own output_attentions are copies, which have no gradient."""
    torch.manual_seed(0)
    weights, values = torch.randn(2, 4, 5, 5, requires_grad=True), torch.randn(5, 2, 4, 3)
    for letters, named in (("bnij", weights), ("ijbn", weights.permute(2, 3, 0, 1))):
        output = torch.einsum(f"{letters},jbnd->ibnd", named, values)
        attended = from_einsum(f"{letters},jbnd->ibnd", named, values, output, batch_size=2)
        assert attended.differentiated is named
        direction = torch.randn_like(output)
        of_named, expected = torch.autograd.grad((output * direction).sum(), (named, weights), retain_graph=True)
        torch.testing.assert_close(attended.gradients(of_named, slice(1, 4)), expected[:, :, 1:4])


def test_fused_attention_against_its_formula() -> None:
    torch.manual_seed(0)
    query, key, value = torch.randn(2, 4, 5, 3), torch.randn(2, 2, 5, 3), torch.randn(2, 2, 5, 3)
    direction = torch.randn(2, 4, 5, 3)
    attended = fused(query, key, value, is_causal=True, output=torch.zeros(2, 4, 5, 3))
    weights = attended.rows(0, 5).requires_grad_()
    (expected,) = torch.autograd.grad(((weights @ value.repeat_interleave(2, 1)) * direction).sum(), weights)
    torch.testing.assert_close(attended.gradients(direction, slice(1, 4)), expected[:, :, 1:4])


# Finite differences

CHANGE = 1e-3  # Llama's norm is in float32 whatever the model is: a smaller change drowns in its rounding


def perturbed_loss(model: nn.Module, task: Prediction, layer: nn.Module, where: tuple[int, ...], change: float) -> float:
    """The loss when one weight of one layer is `change` larger, by attention as the textbook writes it."""

    def attention(
        module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scaling=None, **_
    ) -> tuple[Tensor, Tensor]:
        repeats = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
        scores = query @ key.mT * (query.shape[-1] ** -0.5 if scaling is None else scaling)
        weights = (scores if mask is None else scores + mask).softmax(-1)
        if module is layer:
            weights[where] += change
        return (weights @ value).transpose(1, 2).contiguous(), weights

    source = sys.modules[type(layer).__module__]
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(source, "eager_attention_forward", attention)
        return float(text_losses_in_double(model(**task.inputs).logits, task.targets).sum())


def text_losses_in_double(logits: Tensor, targets: Tensor) -> Tensor:
    losses = []
    for text, wanted in zip(logits, targets, strict=True):
        at = [position for position in range(len(wanted)) if wanted[position] != NOTHING]
        losses.append(torch.stack([-text[position].log_softmax(-1)[wanted[position]] for position in at]).mean())
    return torch.stack(losses)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama"])
def test_equals_finite_differences(family: str) -> None:
    lens = lens_for(family)
    batch = lens.encoder.batch(documents(family)[:2])
    task = own_loss(lens).prepare(batch)
    found = gradients_of(lens, batch)
    double = copy.deepcopy(language_model(family)).double()
    double.set_attn_implementation("eager")
    generator = torch.Generator().manual_seed(3)
    for site, block in found.items():
        layer = double.get_submodule(site.module)
        seen, tolerance = block.seen.nonzero(), 1e-3 * float(block.gradients.abs().max())
        for where in map(tuple, seen[torch.randperm(len(seen), generator=generator)[:12]].tolist()):
            up, down = (perturbed_loss(double, task, layer, where, sign * CHANGE) for sign in (1, -1))
            assert float(block.gradients[where]) == pytest.approx((up - down) / (2 * CHANGE), rel=2e-3, abs=tolerance)


# By hand


class ByHand(nn.Module):
    """Its attention is `eager_attention_forward` below."""


def eager_attention_forward(module, query, key, value, mask, **_):
    weights = (query @ key.mT).softmax(-1)
    return (weights @ value).transpose(1, 2), weights


def test_by_hand() -> None:
    """L = 3 o_0 + 5 o_1 with o_i = sum_j alpha_ij v_j and v = (2, 7): dL / d alpha = ((6, 21), (10, 35))."""
    query, key, value = torch.zeros(1, 1, 2, 1), torch.zeros(1, 1, 2, 1), torch.tensor([2.0, 7.0]).view(1, 1, 2, 1)
    call = AttentionCall(ByHand(), query, key, value, None, {})
    shown = []
    anchor = torch.zeros((), requires_grad=True)
    for rows in (range(0, 1), range(1, 2)):
        output = _Rows.apply(anchor, call, rows, lambda *what: shown.append(what), *call.inputs().values())
        assert output.flatten().tolist() == [4.5]
        torch.autograd.grad((3.0, 5.0)[rows.start] * output.sum(), anchor, allow_unused=True)
    assert [(rows, weights.flatten().tolist(), gradients.flatten().tolist()) for rows, weights, gradients in shown] == [
        (range(0, 1), [0.5, 0.5], [6.0, 21.0]),
        (range(1, 2), [0.5, 0.5], [10.0, 35.0]),
    ]


# Laws


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=6)
@given(order=st.permutations(range(5)), rows=st.one_of(st.none(), st.integers(1, 9)))
def test_a_texts_gradients_are_its_own_in_any_batch(family: str, order: list[int], rows: int | None) -> None:
    lens, texts = lens_for(family), documents(family)
    together = gradients_of(lens, lens.encoder.batch([texts[index] for index in order]), rows=rows)
    for place, index in enumerate(order[:2]):
        for site, alone in gradients_of(lens, lens.encoder.batch([texts[index]])).items():
            _, _, length, keys = alone.gradients.shape
            here = together[site].gradients[place]
            torch.testing.assert_close(here[:, :length, :keys], alone.gradients[0], rtol=1e-3, atol=1e-5)
            assert not here[:, length:].any()
            assert not here[:, :, keys:].any()


def test_a_decoders_rows_have_no_gradient_for_later_keys() -> None:
    for block in gradients_of(lens_for("llama"), lens_for("llama").encoder.batch(documents("llama"))).values():
        assert not block.gradients.triu(1).any()
        assert block.gradients[:, :, 1:, 0].any()


# The model stays as it was


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_nothing_is_left_in_the_model(mode) -> None:
    model = language_model("llama")
    frozen, kept, *_ = model.parameters()
    frozen.requires_grad_(False)
    kept.grad = torch.ones_like(kept)
    before = {name: (parameter.requires_grad, parameter.grad) for name, parameter in model.named_parameters()}
    with headscope.open(model, lens_for("llama").tokenizer) as lens, mode():
        batch = lens.encoder.batch(documents("llama"))
        first, again = gradients_of(lens, batch), gradients_of(lens, batch)
    assert all(torch.equal(first[site].gradients, again[site].gradients) for site in first)
    assert {name: (parameter.requires_grad, parameter.grad) for name, parameter in model.named_parameters()} == before
    assert torch.equal(kept.grad, torch.ones_like(kept))


def test_an_error_of_the_receiver_comes_out_and_leaves_the_model_whole() -> None:
    def receive(block: GradientBlock) -> None:
        raise KeyError("the receiver's own")

    model = language_model("gpt2")
    with headscope.open(model, lens_for("gpt2").tokenizer) as lens:
        with pytest.raises(KeyError, match="the receiver's own"):
            lens.run_gradients(lens.encoder.batch(documents("gpt2")), receive)
        assert all(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize("model_type", ["bloom", "llama"])
def test_nothing_is_held_after_a_pass(model_type: str) -> None:
    """Without the garbage collector: no cycle keeps hidden states, weights or gradients alive."""

    def tensors() -> int:
        return sum(type(thing) is Tensor and thing.dim() > 2 for thing in gc.get_objects())

    built = build(model_type)
    with headscope.open(built.model) as lens:
        lens.run_gradients(Batch(built.inputs), lambda block: None, loss=NextToken())
        gc.collect()
        gc.disable()
        try:
            before = tensors()
            lens.run_gradients(Batch(built.inputs), lambda block: None, loss=NextToken())
            assert tensors() <= before
        finally:
            gc.enable()


def test_losses_are_returned_for_each_text() -> None:
    lens = lens_for("gpt2")
    batch = lens.encoder.batch(documents("gpt2"))
    losses = lens.run_gradients(batch, lambda block: None)
    with torch.no_grad():
        logits = language_model("gpt2")(**batch.inputs).logits
    torch.testing.assert_close(losses, text_losses(logits, NextToken().prepare(batch).targets))


def test_a_closed_lens_says_so() -> None:
    lens = headscope.open(language_model("gpt2"), lens_for("gpt2").tokenizer)
    batch = lens.encoder.batch(documents("gpt2"))
    lens.close()
    with pytest.raises(ModelError, match="closed"):
        lens.run_gradients(batch, lambda block: None)
