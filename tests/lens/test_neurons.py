"""Queries and keys against the textbook, and whether what stands between them and the weights is said."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from torch import Tensor

import headscope
from headscope.errors import InputError
from headscope.lens.neurons import Neurons, fit_scaling, what_stands_between
from headscope.lens.reading import Reading
from headscope.lens.tokens.batch import Batch
from tests.architectures.tiny_models import build
from tests.lens.textbook_neurons import FAMILIES, queries_and_keys
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

BIAS, CAP, SINK = "a bias, of positions", "a soft cap", "a sink"
WHY = {"t5": BIAS, "gemma2": CAP, "bloom": BIAS, "mpnet": BIAS, "deberta": BIAS, "xlnet": BIAS}


def read(model: torch.nn.Module, inputs: dict[str, Tensor]) -> Reading:
    batch, blocks = Batch(inputs), []
    with headscope.open(model) as lens:
        lens.run(batch, blocks.append, rows=1000)
    return Reading(blocks, batch)


def one_text(family: str) -> tuple[torch.nn.Module, dict[str, Tensor]]:
    made = build(family)
    return made.model, {name: ids[:1] for name, ids in made.inputs.items()}


def every_dot(neurons: Neurons) -> Tensor:
    """(head, query, key), row by row."""
    heads, rows, _ = neurons.weights.shape
    return torch.stack([torch.stack([neurons.dots(head, row) for row in range(rows)]) for head in range(heads)])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("layer", [0, 1])
def test_queries_and_keys_are_those_of_the_textbook(family: str, layer: int) -> None:
    model, inputs = one_text(family)
    wanted = queries_and_keys(family, model, inputs, layer)
    neurons = read(model, inputs).neurons(layer)
    queries, keys = wanted
    if neurons.keys.shape != keys.shape:  # Falcon repeats its key before it multiplies
        keys = keys.expand_as(neurons.keys)
    torch.testing.assert_close(neurons.queries, queries, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(neurons.keys, keys, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_softmax_of_the_dots_gives_the_weights_or_it_is_said_why_not(family: str) -> None:
    neurons = read(*one_text(family)).neurons(1)
    dots = every_dot(neurons).masked_fill(neurons.weights == 0, float("-inf"))
    apart = (torch.softmax(neurons.scaling * dots, -1) - neurons.weights).abs().max()
    assert neurons.exact == bool(apart < 1e-4) == (family not in WHY)
    if family in WHY:
        assert neurons.why is not None
        assert neurons.why.startswith(WHY[family])
        assert apart > 1e-3
    else:
        assert neurons.why is None
        assert neurons.scaling == pytest.approx(neurons.queries.shape[-1] ** -0.5, rel=1e-4)


def test_what_was_said_to_stand_between_is_what_stands_there() -> None:
    model, inputs = one_text("gemma2")
    neurons = read(model, inputs).neurons(0)
    cap = model.config.attn_logit_softcapping
    capped = cap * torch.tanh(every_dot(neurons) * model.config.query_pre_attn_scalar**-0.5 / cap)
    torch.testing.assert_close(_softmax(capped, neurons.weights), neurons.weights, atol=1e-5, rtol=0)

    model, inputs = one_text("t5")
    neurons = read(model, inputs).neurons(1)
    bias = model.encoder.block[0].layer[0].SelfAttention.compute_bias(*neurons.weights.shape[1:])[0].detach()
    torch.testing.assert_close(_softmax(every_dot(neurons) + bias, neurons.weights), neurons.weights, atol=1e-5, rtol=0)

    model, inputs = one_text("bloom")
    neurons = read(model, inputs).neurons(1)
    slopes = 2.0 ** -torch.tensor([2.0, 4.0, 6.0, 8.0])  # alibi's, of four heads
    biased = every_dot(neurons) / neurons.queries.shape[-1] ** 0.5 + slopes[:, None, None] * torch.arange(11)
    torch.testing.assert_close(_softmax(biased, neurons.weights), neurons.weights, atol=1e-5, rtol=0)


def _softmax(scores: Tensor, weights: Tensor) -> Tensor:
    return scores.masked_fill(weights == 0, float("-inf")).softmax(-1)


def test_cross_attention_has_neurons_of_both_sides() -> None:
    model, inputs = one_text("fsmt")  # outside the interface
    reading = read(model, inputs)
    neurons = reading.neurons(1, kind="cross")
    assert neurons.exact
    assert neurons.queries.shape[1] == inputs["decoder_input_ids"].shape[1]
    assert neurons.keys.shape[1] == inputs["input_ids"].shape[1]
    assert reading.neurons(1).queries.shape[1] == reading.neurons(1, stack="encoder").keys.shape[1] == 11
    assert reading.neurons(1, stack="decoder").queries.shape[1] == 7


def test_sinks_are_said() -> None:
    neurons = read(*one_text("gpt_oss")).neurons(0)
    assert not neurons.exact
    assert neurons.why == "a sink has a share in the softmax"


def test_products_add_up_to_the_dots() -> None:
    neurons = read(*one_text("llama")).neurons(0)
    products = neurons.products(3, 5)
    assert products.shape == (11, neurons.queries.shape[-1])
    torch.testing.assert_close(products[2], neurons.queries[3, 5] * neurons.keys[1, 2])  # four heads, two keys
    torch.testing.assert_close(products.sum(-1), neurons.dots(3, 5))


@pytest.mark.parametrize("family", ["bloom", "xlnet", "gpt_neo", "llama"])
def test_every_text_of_a_padded_batch_has_its_own(family: str) -> None:
    made = build(family)
    blocks: list[headscope.AttentionBlock] = []
    with headscope.open(made.model) as lens:
        lens.run(Batch(made.inputs), blocks.append, rows=4)
        for text, length in enumerate((11, 9)):
            alone: list[headscope.AttentionBlock] = []
            lens.run(Batch({"input_ids": made.inputs["input_ids"][text : text + 1, :length]}), alone.append)
            together = torch.cat([block.queries[text] for block in blocks if block.site.layer == 1], 1)
            torch.testing.assert_close(together[:, :length], alone[1].queries[0], rtol=1e-4, atol=1e-4)
            last = next(block for block in blocks if block.site.layer == 1)
            torch.testing.assert_close(last.keys[text, :, :length], alone[1].keys[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", ["gptj", "llama"])
def test_half_precision(family: str) -> None:
    model, inputs = one_text(family)
    neurons = read(copy.deepcopy(model).to(torch.bfloat16), inputs).neurons(0)
    assert neurons.exact
    assert neurons.queries.dtype == torch.float32


def test_words_keep_the_neurons_of_their_pieces() -> None:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        reading = lens.read(words=["unbelievable", "cats"])
    words = reading.to_words()
    assert len(words.tokens) < len(reading.tokens)
    torch.testing.assert_close(words.neurons(2).queries, reading.neurons(2).queries)
    assert words.neurons(2).weights.shape == (4, len(reading.tokens), len(reading.tokens))


def test_layers_without_neurons_are_named() -> None:
    reading = read(*one_text("bert"))
    with pytest.raises(InputError, match="no encoder self attention in layer 9"):
        reading.neurons(9)
    for block in reading.blocks.values():
        block.queries = None
    with pytest.raises(InputError, match=r"encoder self layer 0: no product of queries and keys.*another view"):
        reading.neurons(0)


def test_one_token_has_the_usual_scaling() -> None:
    weights = torch.ones(1, 1, 1)
    query = key = torch.ones(1, 1, 4)
    assert fit_scaling(query, key, weights) == 0.5
    assert what_stands_between(query, key, weights, 0.5, 1e-4) is None


def test_fit_by_hand() -> None:
    """Three keys, of which the first row sees two: q.k = 1, 3 and weights in the ratio 1 : 9, so e^(2 c) = 9."""
    queries, keys = torch.tensor([[[1.0]]]), torch.tensor([[[1.0], [3.0], [100.0]]])
    weights = torch.tensor([[[0.1, 0.9, 0.0]]])
    scaling = fit_scaling(queries, keys, weights)
    assert scaling == pytest.approx(torch.tensor(9.0).log().item() / 2, rel=1e-5)
    assert what_stands_between(queries, keys, weights, scaling, 1e-4) is None
    assert what_stands_between(queries, keys, weights / 2, scaling, 1e-4) == "a sink has a share in the softmax"
    assert what_stands_between(queries, keys, weights, scaling / 2, 1e-4) == (
        "a soft cap or a scale of each head's own bends q.k"
    )
    assert what_stands_between(queries, keys, weights[..., [1, 0, 2]], scaling, 1e-4) == (
        "a bias, of positions for one, is added to q.k"
    )


@pytest.mark.real
def test_neurons_of_minilm(minilm: Path) -> None:
    with headscope.open(minilm) as lens:
        reading = lens.read("The keys to the old cabinet are on the table.")
    for layer in range(6):
        neurons = reading.neurons(layer)
        assert neurons.exact
        assert neurons.scaling == pytest.approx(32**-0.5, rel=1e-3)


@pytest.mark.real
@pytest.mark.slow
def test_neurons_of_a_translation_model(opus: Path) -> None:
    with headscope.open(opus) as lens:
        reading = lens.read("Le chat dort.", target="The cat sleeps.", layers=[3])
    for stack, kind in (("encoder", "self"), ("decoder", "self"), ("decoder", "cross")):
        neurons = reading.neurons(3, kind=kind, stack=stack)
        assert neurons.exact
        assert neurons.scaling == pytest.approx(64**-0.5, rel=1e-3)


@pytest.mark.real
@pytest.mark.slow
def test_neurons_of_smollm(smollm: Path) -> None:
    """Fifteen queries share five keys."""
    with headscope.open(smollm) as lens:
        neurons = lens.read("The keys to the old cabinet are on the table.", layers=[7]).neurons(7)
    heads, groups, size = neurons.queries.shape[0], neurons.keys.shape[0], neurons.keys.shape[-1]
    assert heads > groups > 1
    assert neurons.exact
    assert neurons.scaling == pytest.approx(size**-0.5, rel=1e-3)
