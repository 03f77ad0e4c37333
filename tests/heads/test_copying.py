"""Copying scores in a run: those of the planted heads, on the cards; none for a model that has no words."""

from __future__ import annotations

from pathlib import Path

import pytest

import headscope
from headscope.heads.copying import NAME, add_copying
from headscope.report.heads.cards import card_numbers
from headscope.study.run import Run
from headscope.writing.copying import copying_scores
from tests.heads.samples import repeats
from tests.planted_heads import planted_model, planted_tokenizer
from tests.report.samples import made_run
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer


def test_planted_heads_have_their_scores(tmp_path: Path) -> None:
    run = Run.open(made_run(tmp_path / "run", repeats=repeats()))
    with headscope.open(planted_model(), planted_tokenizer()) as lens:
        add_copying(lens, run)
        assert run[NAME].equals(copying_scores(lens))
    score = run[NAME].set_index(["layer", "head"])["copying"]
    assert (score[1, 1], score[1, 2]) == (pytest.approx(1), pytest.approx(-1))
    assert f"{NAME}.copying" in card_numbers(run)


def test_a_model_without_words_has_none(tmp_path: Path) -> None:
    run = Run.open(made_run(tmp_path / "run", repeats=repeats()))
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        add_copying(lens, run)
    assert NAME not in run
