"""The randomly initialised twin that keeps its embeddings: only they are the trained ones."""

from __future__ import annotations

import pytest
import torch
from transformers import T5Config, T5EncoderModel

import headscope
from headscope.errors import ModelError
from headscope.lens.loading import random_twin
from tests.architectures.tiny_models import randomise
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

KEPT = {
    "bert": ["embeddings.word_embeddings", "embeddings.position_embeddings", "embeddings.token_type_embeddings"],
    "gpt2": ["transformer.wte", "transformer.wpe"],
    "llama": ["model.embed_tokens"],
    "marian": [
        "model.shared",
        "model.encoder.embed_tokens",
        "model.decoder.embed_tokens",
        "model.encoder.embed_positions",
        "model.decoder.embed_positions",
    ],
}


def tied(model: torch.nn.Module, name: str, kept: list[str]) -> bool:
    """Whether a parameter is an embedding under another name: an output layer may share its words."""
    tables = {model.get_parameter(f"{table}.weight").data_ptr() for table in kept}
    return model.get_parameter(name).data_ptr() in tables


@pytest.mark.parametrize("family", KEPT)
def test_embeddings_are_kept_and_nothing_else_is(family: str) -> None:
    model = tiny(family)
    twin, fresh = random_twin(model, 7, keep_embeddings=True), random_twin(model, 7)
    for name, parameter in twin.named_parameters():
        same = torch.equal(parameter, model.get_parameter(name))
        if tied(twin, name, KEPT[family]):
            assert same, name
        else:
            assert not same, name
            assert torch.equal(parameter, fresh.get_parameter(name)), "the rest is that of the twin without embeddings"
    sinusoidal = "embed_positions"  # computed, not drawn
    for table in KEPT[family]:
        if sinusoidal not in table:
            assert not torch.equal(fresh.get_parameter(f"{table}.weight"), model.get_parameter(f"{table}.weight"))


def test_a_table_inside_the_attention_is_no_embedding() -> None:
    torch.manual_seed(0)
    config = T5Config(d_model=32, d_kv=8, d_ff=40, num_layers=2, num_heads=4, vocab_size=90)
    model = T5EncoderModel(config).eval()
    randomise(model)
    twin = random_twin(model, 7, keep_embeddings=True)
    bias = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    assert torch.equal(twin.get_parameter("shared.weight"), model.get_parameter("shared.weight"))
    assert not torch.equal(twin.get_parameter(bias), model.get_parameter(bias))


def test_the_global_random_state_and_the_model_are_left_alone() -> None:
    model = tiny("bert")
    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    state = torch.get_rng_state()
    random_twin(model, 7, keep_embeddings=True)
    assert torch.equal(state, torch.get_rng_state())
    assert all(torch.equal(parameter, before[name]) for name, parameter in model.named_parameters())


def test_a_twin_can_be_opened_while_the_model_is() -> None:
    tokenizer = tiny_tokenizer("wordpiece")
    with headscope.open(tiny("bert"), tokenizer) as lens:
        with lens.twin(1, keep_embeddings=True) as twin:
            assert (twin.source.random_init, twin.source.keep_embeddings) == (1, True)
            assert not torch.equal(twin.read("the cat").scores(), lens.read("the cat").scores())
        assert lens.read("the cat").scores().sum() > 0


def test_keeping_embeddings_needs_a_seed() -> None:
    with pytest.raises(ModelError, match="random_init"):
        headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"), keep_embeddings=True)
