"""Residual connection and layer normalisation of real models: parts that sum to the model's own output, norms by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import headscope
from headscope.demo.text import text
from headscope.text import Document
from tests.measures.test_block_norm import belongs_to_no_token, explicit, run_watched

pytestmark = [pytest.mark.real, pytest.mark.slow]

SEQUENCES = 20
ENGLISH = [sentence for sentence in text().replace("\n", " ").split(". ") if 5 < len(sentence.split()) < 40][:SEQUENCES]


@pytest.mark.parametrize("family", ["bert", "marian"])
def test_twenty_real_sequences(family: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue({"bert": "minilm", "marian": "opus"}[family])
    french = Document("La salle est ouverte à tous les députés.", target="The room is open to all members.")
    documents = [Document(sentence) for sentence in ENGLISH] if family == "bert" else [french]
    assert family == "marian" or len(documents) == SEQUENCES
    with headscope.open(folder) as lens:
        for document in documents:
            found, seen = run_watched(lens, lens.encoder.batch([document]), family)
            assert {block.site for block in found} == set(lens.sites)
            for block in found:
                vectors = explicit(block)
                own = seen[block.site]
                total = vectors.sum(2) + belongs_to_no_token(block)
                assert (total - own).abs().max() < 1e-4 * own.abs().max()
                norms = vectors.norm(dim=-1)[:, None]
                torch.testing.assert_close(block.scores("block_norm"), norms, rtol=1e-5, atol=1e-5)
