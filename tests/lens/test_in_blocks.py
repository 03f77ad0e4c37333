"""BigBird comes back in the form in which it came, and texts that it would read in that form are refused."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from transformers import BigBirdConfig, BigBirdForMaskedLM

import headscope
from headscope.errors import InputError
from headscope.lens.tokens.batch import Batch

LONGEST = 28  # (5 + 2 * 1) * 4, as the model has it


def big_bird() -> BigBirdForMaskedLM:
    torch.manual_seed(0)
    sizes = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
    return BigBirdForMaskedLM(BigBirdConfig(**sizes, block_size=4, num_random_blocks=1)).eval()


def text(length: int) -> Tensor:
    return torch.randint(5, 90, (1, length), generator=torch.Generator().manual_seed(1))


def test_the_model_comes_back_in_its_own_form() -> None:
    model = big_bird()
    with torch.no_grad():
        before = model(text(40)).logits
        with headscope.open(model) as lens:
            lens.run(Batch({"input_ids": text(12)}), lambda block: None)
        torch.testing.assert_close(model(text(40)).logits, before)
    assert model.bert.attention_type == "block_sparse"


def test_texts_that_it_would_read_in_blocks_are_refused() -> None:
    with headscope.open(big_bird()) as lens:
        lens.run(Batch({"input_ids": text(LONGEST)}), lambda block: None)
        with pytest.raises(InputError, match=f"more than {LONGEST} tokens"):
            lens.run(Batch({"input_ids": text(LONGEST + 1)}), lambda block: None)


def test_its_full_form_reads_texts_of_any_length() -> None:
    model = big_bird()
    model.bert.set_attention_type("original_full")
    with headscope.open(model) as lens:
        lens.run(Batch({"input_ids": text(40)}), lambda block: None)
    assert model.bert.attention_type == "original_full"
