"""Gradients on real models: a masked-LM BERT, a decoder, a translation model; and one without a head, which says so."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest
import torch

import headscope
from headscope.errors import ModelError
from headscope.lens.tokens.losses import own_loss
from headscope.text import Document
from tests.conftest import SHARED
from tests.lens.language_models import gradients_of, own_gradients
from tests.real.antibodies import ANTIBODIES

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def wikitext() -> list[str]:
    """Four paragraphs."""
    file = Path(os.environ.get("HEADSCOPE_DATA", SHARED / "data")) / "text" / "wikitext2-raw-test.txt"
    if not file.is_file():
        pytest.skip("../shared/data/text/wikitext2-raw-test.txt is not here")
    lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if len(line) > 300][:4]


def test_antiberty_equals_its_own_backward_pass(antiberty: Path) -> None:
    with headscope.open(antiberty) as lens:
        batch = lens.encoder.batch([ANTIBODIES[0][:80], ANTIBODIES[1][:60]])
        found = gradients_of(lens, batch, rows=17)
        task = own_loss(lens).prepare(batch)
        assert task.inputs["input_ids"].eq(lens.tokenizer.mask_token_id).any()
    own = own_gradients(lens.model, task)[None]
    for block in found.values():
        expected = own[block.site.layer][1] * block.seen
        torch.testing.assert_close(block.gradients, expected, rtol=1e-3, atol=1e-4 * float(expected.abs().max()))


def test_antiberty_knows_antibodies(antiberty: Path) -> None:
    """The loss is that of a trained head (twenty residues alike are 3 nats), and figure 3 has a number everywhere."""
    with headscope.open(antiberty) as lens:
        losses = lens.run_gradients(lens.encoder.batch(ANTIBODIES[:6]), lambda block: None)
        table = headscope.study(lens, ANTIBODIES[:6], ["importance"], batch_size=3)["importance"]
    assert losses.mean() < 1 < math.log(20) / 2
    by_layer = table.groupby("layer")[["[CLS]", "[SEP]", "other", "masked", "unmasked"]].mean()
    assert (by_layer > 0).all(axis=None)
    assert len(by_layer) == 8
    # It gives a few hundredths of its attention to special tokens, and nothing there is a no-op.
    assert (by_layer["[SEP]"] > by_layer["other"] / 3).all()


def test_smollm_has_small_gradients_where_it_looks_at_the_first_token(smollm: Path, wikitext: list[str]) -> None:
    """The paper's finding about [SEP], on a decoder: where a layer gives the first token much, changing it does little."""
    with headscope.open(smollm) as lens:
        run = headscope.study(lens, wikitext, ["importance", "first_token"], max_tokens=40, truncate=True)
    by_layer = run["importance"].groupby("layer")[["first_token", "other"]].mean()
    share = run["first_token"].groupby("layer")["first_token"].mean()
    relative = by_layer["first_token"] / by_layer["other"]
    assert share.corr(relative, method="spearman") < -0.6
    assert relative[share > 0.5].max() < 0.7
    assert relative[share > 0.5].median() < 0.4
    assert relative[share < 0.1].min() > 1


def test_opus_takes_the_loss_of_its_target(opus: Path) -> None:
    right = Document("Les clés sont sur la table de la cuisine.", target="The keys are on the kitchen table.")
    wrong = Document("Les clés sont sur la table de la cuisine.", target="Nobody ever wrote about him again, however.")
    with headscope.open(opus) as lens:
        batch = lens.encoder.batch([right, wrong])
        losses = lens.run_gradients(batch, lambda block: None)
        found = gradients_of(lens, batch, rows=4)
        task = own_loss(lens).prepare(batch)
    assert losses[0] < 1 < 4 < losses[1]
    own = own_gradients(lens.model, task)
    for site, block in found.items():
        expected = own[site.stack, site.kind][site.layer][1] * block.seen
        torch.testing.assert_close(block.gradients, expected, rtol=1e-3, atol=1e-4 * float(expected.abs().max()))


def test_minilm_has_no_head_and_says_so(minilm: Path) -> None:
    with headscope.open(minilm) as lens, pytest.raises(ModelError, match="no language-model head"):
        headscope.study(lens, ["A text."], ["importance"])
