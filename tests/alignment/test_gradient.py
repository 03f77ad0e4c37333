"""Gradient alignment: against a slow loop over texts, pieces and numbers; by hand on a linear model; by laws."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    M2M100Config,
    M2M100ForConditionalGeneration,
    MarianModel,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
)

import headscope
from headscope.alignment.gradient import choose, gradient_links, saliency, word_saliency
from headscope.alignment.linking import encode_pair
from headscope.errors import InputError, ModelError
from headscope.lens.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.text import Document
from tests.architectures.tiny_models import randomise
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

PAIRS = [
    Document(words=["the", "cat", "sat"], target_words=["unbelievable", "dogs"]),
    Document(words=["a", "dog", "and", "unbelievable", "end"], target_words=["the", "mat", "end", "two"]),
    Document(words=["words"], target_words=["cat"]),
]

NEAR = {"rtol": 5e-4, "atol": 1e-5}  # gradients in float32, whose last digits are the processor's


@pytest.fixture(scope="module")
def lens() -> Iterator[Lens]:
    with headscope.open(tiny("marian"), tiny_tokenizer("bpe")) as opened:
        yield opened


def batch_of(lens: Lens, documents: list[Document]) -> Batch:
    return lens.encoder.collate([encode_pair(lens, document) for document in documents])


def slowly(lens: Lens, document: Document, noises: list[Tensor]) -> Tensor:
    """The formula as it stands: one text, one piece, one noisy copy after another, through inputs_embeds. (row, key)"""
    encoded = encode_pair(lens, document)
    assert encoded.target is not None
    model, rows = lens.model, encoded.target.ids
    scale = getattr(model.get_encoder(), "embed_scale", 1.0)
    vectors = model.get_input_embeddings().weight[encoded.source.ids].detach()
    total = torch.zeros(len(rows), len(encoded.source))
    for noise in noises:
        for row in range(len(rows) - 1):
            noisy = (vectors + noise).requires_grad_()
            logits = model(inputs_embeds=(noisy * scale)[None], decoder_input_ids=torch.tensor([rows])).logits
            logits[0, row].log_softmax(0)[rows[row + 1]].backward(inputs=[noisy])
            assert noisy.grad is not None
            total[row] += (noisy.grad * vectors).sum(1)
    return total / len(noises)


def noise_of(lens: Lens, document: Document, samples: int, noise: float, seed: int) -> list[Tensor]:
    """As the module draws it: by the seed and the text's own ids."""
    ids = encode_pair(lens, document).source.ids
    vectors = lens.model.get_input_embeddings().weight[ids].detach()
    dice = np.random.default_rng([seed, *ids])
    spread = noise * (vectors.max() - vectors.min())
    return [spread * torch.from_numpy(dice.standard_normal(vectors.shape, dtype=np.float32)) for _ in range(samples)]


def test_plain_gradient_is_the_formula(lens: Lens) -> None:
    found = saliency(lens, batch_of(lens, PAIRS), samples=1, noise=0)
    for text, document in enumerate(PAIRS):
        expected = slowly(lens, document, [torch.zeros(())])
        rows, keys = expected.shape
        torch.testing.assert_close(found[text, : rows - 1, :keys], expected[:-1], **NEAR)
        assert not found[text, : rows - 1, keys:].any()  # padding
    assert found.abs().max() > 1e-3


def test_smoothed_gradient_is_the_mean_over_noisy_copies(lens: Lens) -> None:
    found = saliency(lens, batch_of(lens, PAIRS), samples=3, noise=0.2, seed=5)
    plain = saliency(lens, batch_of(lens, PAIRS), samples=1, noise=0)
    assert (found - plain).abs().max() > 1e-2 * plain.abs().max()
    for text, document in enumerate(PAIRS):
        expected = slowly(lens, document, noise_of(lens, document, 3, 0.2, 5))
        rows, keys = expected.shape
        torch.testing.assert_close(found[text, : rows - 1, :keys], expected[:-1], **NEAR)


def test_word_saliency_by_hand() -> None:
    """log p = 2 a - b + 3 c for the embeddings (a, b) = (1, 4) and (c, d) = (5, 6): 2*1 - 1*4 and 3*5 + 0*6."""
    gradients = torch.tensor([[[2.0, -1.0], [3.0, 0.0]]])
    embeddings = torch.tensor([[[1.0, 4.0], [5.0, 6.0]]])
    assert word_saliency(gradients, embeddings).tolist() == [[-2.0, 15.0]]


def test_saliency_is_what_scaling_a_source_embedding_changes(lens: Lens) -> None:
    """The one-hot reading: the derivative of log p(y) when x_j becomes (1 + h) x_j, by finite differences."""
    encoded = encode_pair(lens, PAIRS[0])
    assert encoded.target is not None
    model, rows = lens.model.double(), encoded.target.ids
    try:
        vectors = model.get_input_embeddings().weight[encoded.source.ids].detach() * model.get_encoder().embed_scale
        found = saliency(lens, batch_of(lens, [PAIRS[0]]), samples=1, noise=0)[0]

        def log_p(scale: float, key: int) -> Tensor:
            scaled = vectors.clone()
            scaled[key] *= scale
            with torch.no_grad():
                logits = model(inputs_embeds=scaled[None], decoder_input_ids=torch.tensor([rows])).logits[0]
            return logits.log_softmax(-1)[range(len(rows) - 1), rows[1:]]

        for key in range(len(encoded.source)):
            change = (log_p(1 + 1e-4, key) - log_p(1 - 1e-4, key)) / 2e-4
            torch.testing.assert_close(found[:-1, key].double(), change, rtol=1e-3, atol=1e-5)
    finally:
        model.float()


def test_pieces_become_words_and_negative_words_can_win(lens: Lens) -> None:
    """Sum over source pieces, mean over target pieces, argmax; columns that a text does not have never win."""
    batch = batch_of(lens, PAIRS)
    scores = -torch.rand(batch.size, len(max(batch.targets, key=len)), len(max(batch.sources, key=len))) - 0.1
    for no_link in (True, False):
        chosen = choose(scores, batch, no_link=no_link)
        for text, document in enumerate(PAIRS):
            source, target = batch.sources[text], batch.targets[text]
            for word in range(len(document.target_words or ())):
                rows = [row - 1 for row, of in enumerate(target.word_of) if of == word]
                mean = scores[text, rows].mean(0)
                sums = {
                    of: sum(float(mean[key]) for key, one in enumerate(source.word_of) if one == of)
                    for of in range(len(document.words or ()))
                }
                if no_link:
                    sums[-1] = max(float(mean[key]) for key, special in enumerate(source.special) if special)
                assert int(chosen[text, word]) == max(sums, key=lambda of: sums[of])


def test_links_do_not_depend_on_the_batch(lens: Lens) -> None:
    one_by_one = [gradient_links(lens, [document], samples=2, seed=3)[0] for document in PAIRS]
    assert gradient_links(lens, PAIRS, samples=2, seed=3) == one_by_one
    assert gradient_links(lens, PAIRS[::-1], samples=2, seed=3, batch_size=2) == one_by_one[::-1]
    assert any(one_by_one)
    assert gradient_links(lens, []) == []


def test_it_is_reproducible_and_leaves_no_trace(lens: Lens) -> None:
    batch = batch_of(lens, PAIRS)
    parameters = list(lens.model.parameters())
    before = [parameter.detach().clone() for parameter in parameters]
    learning = [parameter.requires_grad for parameter in parameters]
    state = torch.random.get_rng_state()
    with torch.inference_mode():
        first = saliency(lens, batch, samples=2, seed=1)
    assert torch.equal(first, saliency(lens, batch, samples=2, seed=1))
    assert not torch.equal(first, saliency(lens, batch, samples=2, seed=2))
    assert torch.equal(state, torch.random.get_rng_state())
    assert all(torch.equal(one, other) for one, other in zip(before, parameters, strict=True))
    assert all(parameter.grad is None for parameter in parameters)
    assert learning == [parameter.requires_grad for parameter in parameters]
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in lens.model.modules())


def test_absolute_is_of_each_copy(lens: Lens) -> None:
    batch = batch_of(lens, PAIRS[:1])
    plain, absolute = (saliency(lens, batch, samples=1, noise=0, absolute=flag) for flag in (False, True))
    assert torch.equal(plain.abs(), absolute)
    assert (plain < 0).any()
    smooth = [saliency(lens, batch, samples=4, noise=0.3, absolute=flag) for flag in (False, True)]
    assert (smooth[1] >= smooth[0].abs() - 1e-7).all()
    assert (smooth[1] > smooth[0].abs() + 1e-6).any()


def other_models() -> dict[str, PreTrainedModel]:
    torch.manual_seed(0)
    shape = {
        "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "encoder_ffn_dim": 40, "decoder_ffn_dim": 40, "vocab_size": 90, "max_position_embeddings": 64, "pad_token_id": 1,
    }  # fmt: skip
    models = {
        "bart": BartForConditionalGeneration(BartConfig(**shape, scale_embedding=True)),
        "m2m": M2M100ForConditionalGeneration(M2M100Config(**shape)),
        "t5": T5ForConditionalGeneration(
            T5Config(d_model=32, d_kv=8, d_ff=40, num_layers=1, num_heads=4, vocab_size=90, decoder_start_token_id=0)
        ),
    }
    for model in models.values():
        randomise(model.eval())
    return models


@pytest.mark.parametrize("family", ["bart", "m2m", "t5"])
def test_other_families(family: str) -> None:
    """Scaled, shared and tied embeddings: the derivative by the scale of an embedding, through the model's own lookup."""
    with headscope.open(other_models()[family], tiny_tokenizer("bpe")) as lens:
        batch = batch_of(lens, PAIRS[:2])
        found = saliency(lens, batch, samples=1, noise=0)
        encoder, key = lens.model.get_encoder(), 1

        def log_p(scale: float) -> Tensor:
            factor = torch.ones(batch.inputs["input_ids"].shape[1], 1)
            factor[key] = scale
            handle = encoder.get_input_embeddings().register_forward_hook(lambda _, __, output: output * factor)
            with torch.no_grad():
                encoded = encoder(input_ids=batch.inputs["input_ids"], attention_mask=batch.inputs["attention_mask"])
            handle.remove()
            given = {name: tensor for name, tensor in batch.inputs.items() if name.startswith(("decoder", "attention"))}
            with torch.no_grad():
                logits = lens.model(encoder_outputs=encoded, **given).logits[:, :-1].double()
            return logits.log_softmax(-1).gather(2, batch.inputs["decoder_input_ids"][:, 1:, None])[..., 0]

        change = (log_p(1.02) - log_p(0.98)) / 0.04
        torch.testing.assert_close(found[:, :-1, key].double(), change, rtol=0.05, atol=0.02 * float(change.abs().max()))
        assert len(gradient_links(lens, PAIRS, samples=2)) == len(PAIRS)


def test_errors() -> None:
    needs = r"needs an encoder-decoder with a language-model head, and .* is a "
    for model in (tiny("gpt2"), MarianModel(tiny("marian").config)):
        with headscope.open(model, tiny_tokenizer("bpe")) as lens:
            with pytest.raises(ModelError, match=needs + type(model).__name__):
                saliency(lens, lens.encoder.batch(["the cat"]))
            assert not lens.closed
    with headscope.open(tiny("marian"), tiny_tokenizer("bpe")) as lens:
        with pytest.raises(InputError, match="needs a target"):
            saliency(lens, lens.encoder.batch(["the cat"]))
        with pytest.raises(InputError, match="samples must be at least 1"):
            gradient_links(lens, PAIRS, samples=0)
        batch = batch_of(lens, PAIRS)
    with pytest.raises(ModelError, match="closed"):
        saliency(lens, batch)
