"""Parts of logits and likenesses on real models: numbers of an independent computation, and sums."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import headscope

pytestmark = [pytest.mark.real, pytest.mark.slow]


def test_smollm_has_the_parts_of_an_independent_computation(smollm: Path) -> None:
    """DESIGN.md, section 10, and issue 21: computed elsewhere, by other code."""
    with headscope.open(smollm) as lens:
        mary = lens.read("When John and Mary went to the shops, John gave the bag to").logits(" Mary", against=" John")
        keys = lens.read("The keys to the cabinet").logits(" are", against=" is")
        wanted = {"23.3": 1.9166, "29.1": 1.2286, "29.0": -0.9368}
        assert mary.total == pytest.approx(3.1214, abs=1e-3)
        assert {name: mary.by_token(name)["part"].sum() for name in wanted} == pytest.approx(wanted, abs=1e-3)
        wanted = {"26.0": 3.2188, "27.8": 2.1908, "27.7": 0.5100}
        assert keys.total == pytest.approx(3.4097, abs=1e-3)
        assert {name: keys.by_token(name)["part"].sum() for name in wanted} == pytest.approx(wanted, abs=1e-3)
        assert abs(mary.remainder) < 1e-4 > abs(keys.remainder)
        assert mary.by_head()[["layer", "head"]].head(3).to_numpy().tolist() == [[23, 3], [29, 1], [29, 0]]
        # 29.0 takes Mary away: a negative copier by what it writes, and by its weights alone.
        assert mary.writes("29.0", 1)["token"].tolist()[-1] == " Mary"
        copying = headscope.copying_scores(lens).set_index(["layer", "head"])["copying"]
        assert len(copying) == 270
        assert copying[29, 0] < -0.9
        assert copying[29, 1] > 0.9


def test_opus_at_every_position_of_a_target(opus: Path) -> None:
    with headscope.open(opus) as lens:
        reading = lens.read("Les clés sont sur la table.", target="The keys are on the table.")
        own = lens.model(**reading.batch.inputs).logits[0].detach()
        for at in range(len(reading.target_tokens)):
            found = reading.logits(at=at)
            assert found.total == pytest.approx(float(own[at].max()), abs=1e-3)
            assert abs(found.remainder) < 1e-3
            assert {site.group for site in found.heads} == {"decoder self", "decoder cross"}
        keys = reading.logits(" keys", at=1)
        sources = keys.by_token()
        assert sources[sources["side"] == "source"].sort_values("heads")["token"].iloc[-1] == "clés"


def test_antiberty_guesses_a_masked_residue(antiberty: Path) -> None:
    """Through the nonlinear transform of a masked-LM head."""
    with headscope.open(antiberty) as lens:
        reading = lens.read("E V Q L V [MASK] S G G G L V Q P G G S L R L S C A A S G")
        found = reading.logits()
        with torch.no_grad():
            own = lens.model(**reading.batch.inputs).logits[0, found.position]
    assert reading.tokens[found.position] == "[MASK]"
    assert found.total == pytest.approx(float(own.max()), abs=1e-3)
    assert abs(found.remainder) < 1e-3


def test_minilm_is_as_its_folder_says(minilm: Path) -> None:
    with headscope.open(minilm) as lens:
        near = headscope.similarity(lens, "A cat sleeps on the sofa.", "The kitten is asleep on the couch.")
        far = headscope.similarity(lens, "A cat sleeps on the sofa.", "Share prices fell sharply on Monday.")
    assert near.pooling == "mean"
    assert near.cosine > 0.6 > 0.2 > far.cosine
    for found in (near, far):
        for side in (found.one, found.other):
            assert abs(side.remainder) < 1e-4
            assert side.table()["part"].sum() == pytest.approx(found.cosine, abs=1e-4)
