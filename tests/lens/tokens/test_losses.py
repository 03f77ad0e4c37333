"""The losses: against transformers' own, by hand, and the laws of masking."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertConfig, BertForPreTraining, BertLMHeadModel

import headscope
from headscope.errors import InputError, ModelError
from headscope.lens.site import Site
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.losses import NOTHING, MaskedTokens, NextToken, mask_tokens, own_loss, text_losses
from tests.lens.language_models import documents, language_model, lens_for, tokenizer_for
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

MASK = 24
BY = MaskedTokens(MASK, range(4, 24))
SMALL = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 40, "vocab_size": 90}


def test_by_hand() -> None:
    """Two texts: one predicts with p = 1/2 and 1/4, one with p = 1/3; a third predicts nothing."""
    halves, quarters, thirds = [0.0, 0.0, -1e9, -1e9], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, -1e9]
    logits = torch.tensor([[halves, quarters], [thirds, halves], [halves, halves]])
    targets = torch.tensor([[1, 3], [2, NOTHING], [NOTHING, NOTHING]])
    losses = text_losses(logits, targets)
    torch.testing.assert_close(losses, torch.tensor([(math.log(2) + math.log(4)) / 2, math.log(3), 0.0]))


@pytest.mark.parametrize("family", ["gpt2", "llama", "bert"])
def test_equals_the_models_own_loss(family: str) -> None:
    """transformers shifts a decoder's labels itself, and takes the mean over all predicted tokens of one text."""
    lens, model = lens_for(family), language_model(family)
    task = own_loss(lens).prepare(lens.encoder.batch(documents(family)[:1]))
    ids = task.inputs["input_ids"]
    labels = task.targets if family == "bert" else ids
    output = model(**task.inputs, labels=labels)
    torch.testing.assert_close(text_losses(output.logits, task.targets)[0], output.loss)


def test_next_token_of_a_padded_batch() -> None:
    ids = torch.tensor([[5, 6, 7, 8], [9, 10, 3, 3]])
    batch = Batch({"input_ids": ids, "attention_mask": torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])})
    task = NextToken().prepare(batch)
    assert task.targets.tolist() == [[6, 7, 8, NOTHING], [10, NOTHING, NOTHING, NOTHING]]
    assert task.inputs is batch.inputs
    assert task.masked is None


def test_target_of_an_encoder_decoder() -> None:
    lens = lens_for("marian")
    batch = lens.encoder.batch(documents("marian"))
    task = own_loss(lens).prepare(batch)
    for text, target in enumerate(batch.targets):
        wanted = task.targets[text].tolist()
        assert wanted[: len(target) - 1] == target.ids[1:]
        assert set(wanted[len(target) - 1 :]) == {NOTHING}
    logits = torch.randn(*task.targets.shape, 90)
    loops = [
        torch.stack(
            [F.cross_entropy(logits[text, at], torch.tensor(token)) for at, token in enumerate(target.ids[1:])]
        ).mean()
        for text, target in enumerate(batch.targets)
    ]
    torch.testing.assert_close(text_losses(logits, task.targets), torch.stack(loops))


# Masking


@given(length=st.integers(1, 200), seed=st.integers(0, 5), data=st.data())
def test_what_is_masked(length: int, seed: int, data: st.DataObject) -> None:
    ids = [2, *data.draw(st.lists(st.integers(4, 23), min_size=length, max_size=length)), 3]
    special = [True, *[False] * length, True]
    by = MaskedTokens(MASK, range(4, 24), seed)
    replaced, chosen = mask_tokens(ids, special, by)
    assert (replaced, chosen) == mask_tokens(ids, special, by)
    assert sum(chosen) == max(1, round(0.15 * length))
    assert not any(here and there for here, there in zip(chosen, special, strict=True))
    assert all(new == old for new, old, here in zip(replaced, ids, chosen, strict=True) if not here)
    assert set(replaced) <= {*range(4, 24), 2, 3, MASK}


def test_eight_in_ten_become_the_mask_and_every_place_is_as_likely() -> None:
    generator = torch.Generator().manual_seed(0)
    ways = {"mask": 0, "same": 0, "other": 0}
    places = torch.zeros(40)
    for _ in range(1000):
        ids = torch.randint(4, 24, (40,), generator=generator).tolist()
        replaced, chosen = mask_tokens(ids, [False] * 40, BY)
        places += torch.tensor(chosen)
        for new, old, here in zip(replaced, ids, chosen, strict=True):
            if here:
                ways["mask" if new == MASK else "same" if new == old else "other"] += 1
    total = sum(ways.values())
    assert total == 6000
    # One random token in twenty is the token itself.
    assert ways["mask"] / total == pytest.approx(0.8, abs=0.02)
    assert ways["other"] / total == pytest.approx(0.095, abs=0.015)
    assert places.min() > 110  # 150 on average, deviation 11
    assert places.max() < 190


def test_another_seed_masks_others() -> None:
    ids = list(range(4, 24))
    masks = {tuple(mask_tokens(ids, [False] * 20, MaskedTokens(MASK, range(4, 24), seed))[1]) for seed in range(20)}
    assert len(masks) > 10


def test_masks_do_not_depend_on_the_batch() -> None:
    lens = lens_for("bert")
    whole = own_loss(lens).prepare(lens.encoder.batch(documents("bert")))
    for text, document in enumerate(documents("bert")):
        alone = own_loss(lens).prepare(lens.encoder.batch([document]))
        length = alone.targets.shape[1]
        assert torch.equal(whole.targets[text, :length], alone.targets[0])
        assert torch.equal(whole.masked[text, :length], alone.masked[0])
        assert torch.equal(whole.inputs["input_ids"][text, :length], alone.inputs["input_ids"][0])
        assert not whole.masked[text, length:].any()
    assert torch.equal(whole.masked, whole.targets != NOTHING)


def test_random_tokens_are_ordinary_ones_that_the_model_knows() -> None:
    loss = own_loss(lens_for("bert"))
    assert set(loss.random_ids) == set(range(4, 24))
    assert loss.mask_id == MASK == tokenizer_for("bert").mask_token_id


# What has no loss


def test_a_model_without_a_head() -> None:
    with (
        headscope.open(tiny("bert"), tokenizer_for("bert")) as lens,
        pytest.raises(ModelError, match=r"BertModel has no language-model head .* open a model that was saved with one"),
    ):
        lens.run_gradients(lens.encoder.batch(["the cat"]), lambda block: None)


def test_a_tokenizer_without_a_mask_token() -> None:
    with (
        headscope.open(language_model("bert"), tiny_tokenizer("wordpiece")) as lens,
        pytest.raises(ModelError, match="needs a tokenizer with a mask token"),
    ):
        own_loss(lens)


def test_a_next_token_head_on_an_encoder() -> None:
    with (
        headscope.open(BertLMHeadModel(BertConfig(**SMALL)), tokenizer_for("bert")) as lens,
        pytest.raises(ModelError, match="whose head predicts the next token, but its attention also sees later ones"),
    ):
        own_loss(lens)


def test_an_encoder_decoder_without_a_target() -> None:
    lens = lens_for("marian")
    with pytest.raises(InputError, match="predicts its target: give one"):
        lens.run_gradients(lens.encoder.batch(["the cat"]), lambda block: None)


def test_masking_bare_tensors() -> None:
    with pytest.raises(InputError, match="which tokens are special"):
        BY.prepare(Batch({"input_ids": torch.tensor([[5, 6]])}))


def test_a_model_with_two_heads() -> None:
    """BertForPreTraining calls its logits by another name."""
    seen: set[Site] = set()
    with headscope.open(BertForPreTraining(BertConfig(**SMALL)), tokenizer_for("bert")) as lens:
        assert lens.run_gradients(lens.encoder.batch(["the cat sat"]), lambda block: seen.add(block.site)) > 0
        assert seen == set(lens.sites)
