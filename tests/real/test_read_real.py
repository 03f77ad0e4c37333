"""`read` on a real decoder: its heads are told apart, where row 0 and the first token made all of them alike."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import torch

import headscope

pytestmark = [pytest.mark.real, pytest.mark.slow]

TEXT = "When Mary and John went to the store, John gave a drink to Mary"


def test_heads_of_smollm_are_told_apart(smollm: Path) -> None:
    with headscope.open(smollm) as lens:
        reading = lens.read(TEXT)
    heads = reading.strongest()
    assert len(heads) == 270
    links = Counter(one.link for one in heads)
    assert ("When", "When") not in links
    assert len(links) > 40
    assert max(links.values()) < 60
    assert not any("Ġ" in text for one in heads for text in one.link or ())
    sinks = torch.tensor(reading.sinks())
    assert [text for text, sink in zip(reading.key_texts(), sinks, strict=True) if sink] == ["When", "the"]
    weights = reading.scores()[:, :, 1:, :]
    shares = weights[..., sinks].sum((-1, -2)) / weights.sum((-1, -2))
    assert [one.sinks for one in heads] == pytest.approx(shares.ravel().tolist(), rel=1e-4)
    assert sum(one.sinks > 0.5 for one in heads) > 135, "most heads give most to sinks"
