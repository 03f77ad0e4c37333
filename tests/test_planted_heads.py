"""The planted model does what its heads are said to do: its weights and its logits are those worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import headscope
from tests.planted_heads import TOKENS, logits, planted_model, planted_tokenizer

TEXTS = ["a b c a", "a b c a b c a", "e d", "b b b", "a b a c a", "c"]


@pytest.mark.parametrize("text", TEXTS)
def test_logits_are_those_worked_out_by_hand(text: str) -> None:
    ids = planted_tokenizer()(text)["input_ids"]
    assert [TOKENS[token] for token in ids] == ["<s>", *text.split()]
    with torch.no_grad():
        own = planted_model()(torch.tensor([ids])).logits[0].numpy()
    np.testing.assert_allclose(own, logits(ids), atol=1e-5)


def test_every_head_looks_where_it_is_said_to_look() -> None:
    with headscope.open(planted_model(), planted_tokenizer()) as lens:
        weights = lens.read("a b c a").scores()
    even = torch.ones(5, 5).tril() / torch.arange(1, 6)[:, None]
    before = torch.eye(5).roll(1, 0)
    before[0] = torch.eye(5)[0]
    torch.testing.assert_close(weights[0, 0], before)
    assert weights[1, 0, 4].tolist() == pytest.approx([0, 0, 1, 0, 0]), "the first a was followed by b"
    torch.testing.assert_close(weights[1, 2], torch.eye(5))
    for layer, head in [(0, 1), (0, 2), (0, 3), (1, 1), (1, 3)]:
        torch.testing.assert_close(weights[layer, head], even)
