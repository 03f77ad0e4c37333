"""Copying scores: by hand on the planted model, against the matrix over the whole vocabulary, and where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import headscope
from headscope.errors import ModelError
from headscope.writing.copying import copying_of
from tests.architectures.tiny_models import build
from tests.lens.language_models import language_model, lens_for
from tests.planted_heads import planted_model, planted_tokenizer


def test_planted_heads_copy_suppress_or_do_neither() -> None:
    """W_E W_V W_O W_U is c times the identity less its mean: five eigenvalues c and a zero, so c / |c|."""
    with headscope.open(planted_model(), planted_tokenizer()) as lens:
        table = headscope.copying_scores(lens)
    found = {f"{row.layer}.{row.head}": row.copying for row in table.itertuples()}
    assert found["1.0"] == pytest.approx(1)
    assert found["1.1"] == pytest.approx(1)
    assert found["1.2"] == pytest.approx(-1)
    assert all(math.isnan(found[name]) for name in ("0.0", "0.1", "0.2", "0.3", "1.3")), "they write no words"


def test_a_head_that_writes_the_next_token_is_worked_out_by_hand() -> None:
    """A cycle of five tokens has the fifth roots of 1 for eigenvalues; centred, 1 itself is gone, and the rest sum to -1."""
    one = torch.eye(5, dtype=torch.float64)
    centred = one.roll(1, 0) - 1 / 5
    assert copying_of(one[None], one[None], centred).tolist() == pytest.approx([-1 / 4])
    assert copying_of(one[None], one[None], one.roll(1, 0)).tolist() == pytest.approx([0], abs=1e-12)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_scores_equal_those_of_the_whole_matrix(family: str) -> None:
    model = language_model(family)
    table = headscope.copying_scores(lens_for(family))
    lens = lens_for(family)
    last = model.transformer.ln_f if family == "gpt2" else model.model.norm
    words = model.lm_head.weight.detach().double() * last.weight.detach().double()
    words = words - words.mean(1, keepdim=True) if family == "gpt2" else words
    words = words - words.mean(0)
    for site in lens.sites:
        matrices = lens.matrices(site)
        block = model.transformer.h[site.layer].ln_1 if family == "gpt2" else model.model.layers[site.layer].input_layernorm
        embedded = model.get_input_embeddings().weight.detach().double()
        embedded = embedded - embedded.mean(1, keepdim=True) if family == "gpt2" else embedded
        embedded = embedded * block.weight.detach().double()
        for head in range(site.heads):
            whole = embedded @ matrices.values[head].double() @ matrices.output[head].double() @ words.T
            values = np.linalg.eigvals(whole.numpy())
            ours = table[(table["layer"] == site.layer) & (table["head"] == head)]["copying"].item()
            assert ours == pytest.approx(values.real.sum() / np.abs(values).sum(), abs=1e-6)


def test_norms_behind_the_heads_are_folded_in() -> None:
    """Gemma 2 has a norm behind W_O, and soft caps behind the words."""
    with headscope.open(build("gemma2").model) as lens:
        assert headscope.copying_scores(lens)["copying"].between(-1, 1).all()


def test_parallel_layers_have_scores() -> None:
    with headscope.open(build("gpt_neox").model) as lens:
        assert len(headscope.copying_scores(lens)) == sum(site.heads for site in lens.sites)


@pytest.mark.parametrize("family", ["bert", "marian"])
def test_norms_on_the_stream_are_refused(family: str) -> None:
    with pytest.raises(ModelError, match="stands more than the residual stream and a last norm"):
        headscope.copying_scores(lens_for(family))


def test_a_model_without_words_is_refused() -> None:
    with headscope.open(language_model("bert").bert) as lens, pytest.raises(ModelError, match="its heads write no words"):
        headscope.copying_scores(lens)
