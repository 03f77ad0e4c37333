"""Spearman's rho of ten million real pairs (MiniLM on WikiText): the sketch against scipy, and shards merged."""

from __future__ import annotations

import os
from collections import defaultdict
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import headscope
from headscope.lens.block import AttentionBlock
from headscope.measures.value_norm import value_norms_of
from headscope.statistics import NormCorrelation
from headscope.statistics.kit.categories import USUAL, key_categories
from headscope.text import Document
from tests.conftest import SHARED

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def wikitext() -> list[Document]:
    """Nine long paragraphs, and two short ones, so that something is padding."""
    file = Path(os.environ.get("HEADSCOPE_DATA", SHARED / "data")) / "text" / "wikitext2-raw-test.txt"
    if not file.is_file():
        pytest.skip("../shared/data/text/wikitext2-raw-test.txt is not here")
    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    long = [line for line in lines if len(line) > 800][:9]
    short = [line for line in lines if 100 < len(line) < 200][:2]
    return [Document(line) for line in [*long, *short]]


def test_ten_million_pairs(minilm: Path, wikitext: list[Document]) -> None:
    pairs: dict[str, list[np.ndarray]] = defaultdict(list)

    def collect(block: AttentionBlock) -> None:
        """Every pair of real tokens, one text at a time."""
        norms, categories = value_norms_of(block.key_side), key_categories(block, {})
        for text, (sequence, length) in enumerate(zip(block.key_sequences, block.query_lengths, strict=True)):
            rows = max(0, min(int(length), block.rows.stop) - block.rows.start)
            weights = block.weights[text, :, :rows, : len(sequence)].numpy()
            own = np.broadcast_to(norms[text, :, None, : len(sequence)].numpy(), weights.shape)
            for number, name in enumerate(USUAL):
                chosen = (categories[text, : len(sequence)] == number).numpy()
                pairs[name].append(np.stack([weights[..., chosen].ravel(), own[..., chosen].ravel()]))

    with headscope.open(minilm) as lens:
        encoded = [lens.encoder.encode(document, max_tokens=128, truncate=True) for document in wikitext]
        batches = [lens.encoder.collate(encoded[start : start + 4]) for start in range(0, len(encoded), 4)]
        parts = [NormCorrelation().start(lens.sites) for _ in batches]
        for batch, part in zip(batches, parts, strict=True):
            lens.run(batch, lambda block, part=part: (collect(block), part.update(block)), rows=50)
        tables = [merged(parts, order, lens).table() for order in permutations(range(len(parts)))]
    assert len(tables) == 6
    assert all(table.equals(tables[0]) for table in tables)
    table = tables[0].set_index("category")
    assert table["pairs"].sum() > 10_000_000
    for name, row in table.iterrows():
        weights, norms = np.concatenate(pairs[name], axis=1)
        assert row["pairs"] == len(weights)
        error = abs(row["rho"] - spearmanr(weights, norms).statistic)
        assert error < 0.002
        assert error <= row["bound"] < 0.015


def merged(parts: list[NormCorrelation], order: tuple[int, ...], lens: headscope.Lens) -> NormCorrelation:
    whole = NormCorrelation().start(lens.sites)
    for index in order:
        whole.merge(parts[index])
    return whole
