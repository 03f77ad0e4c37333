"""How much a token takes from others: by hand, and of some texts only."""

from __future__ import annotations

import pytest
import torch

import headscope
from headscope.errors import InputError
from headscope.lens.tokens.batch import Batch
from headscope.statistics import Mixing
from headscope.statistics.exemplars import document_number
from tests.statistics.tester import assert_same, counted, documents
from tests.tiny import tiny


def test_one_token_has_no_context() -> None:
    """By hand: a text of one token attends to itself alone, so it mixes nothing in."""
    model = tiny("bert")
    with headscope.open(model) as lens:
        mixing = Mixing().start(lens.sites)
        lens.run(Batch({"input_ids": torch.tensor([[5]])}), mixing.update)
    assert mixing.table()["mixing"].tolist() == pytest.approx([0, 0, 0], abs=1e-6)
    assert (mixing.table()["own_norm"] > 0).all()


def test_one_text_of_some() -> None:
    """Texts are chosen by their own number, so that any batch has the same ones."""
    texts = documents("bert")
    chosen = [text for text in texts if document_number(text) % 2 == 0]
    assert 0 < len(chosen) < len(texts)
    assert_same(counted(Mixing(every=2), "bert", texts), counted(Mixing(), "bert", chosen, batch_size=1))
    assert Mixing(every=2).settings()["every"] == 2
    with pytest.raises(InputError, match="every"):
        Mixing(every=0)
