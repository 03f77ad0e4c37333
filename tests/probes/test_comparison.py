"""Table 3 as a whole: its rows, its errors, and that a trained model beats its random twin."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

import headscope
from headscope.errors import InputError
from headscope.probes import PROBES, Training, Vectors, probe, read_treebank
from headscope.text import Document
from tests.probes.planted import documents
from tests.probes.test_features import Told
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

COLUMNS = ["name", "uas", "uas_without_punctuation", "low", "high", "words", "epochs"]
QUICK = Training(most_epochs=2)


@pytest.fixture(scope="module")
def lens() -> headscope.Lens:
    return headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"))


def test_one_row_a_probe(lens: headscope.Lens, sentences: list[Document], vectors: Vectors, tmp_path: Path) -> None:
    told = Told()
    table = probe(lens, sentences, documents(20, 9), vectors=vectors, cache=tmp_path, training=QUICK, progress=told)
    assert list(table.columns) == COLUMNS
    assert list(table["name"]) == list(PROBES)
    assert ((table["low"] <= table["uas"]) & (table["uas"] <= table["high"])).all()
    words = sum(head >= 0 for document in documents(20, 9) for head in document.parents or ())
    assert (table["words"] == words).all()
    assert table["epochs"].isna().tolist() == [True, False, False, False, False]
    assert len(list(tmp_path.iterdir())) == 4, "two parts, seen by the model and by its twin"
    assert any("of disk in all" in line for line in told.lines)
    assert any("of the words have a vector" in line for line in told.lines)


def test_it_is_the_same_every_time_with_or_without_a_cache_and_whatever_else_is_asked_for(
    lens: headscope.Lens, sentences: list[Document], vectors: Vectors, tmp_path: Path
) -> None:
    whole = probe(lens, sentences, vectors=vectors, seed=3, cache=tmp_path, training=QUICK)
    pd.testing.assert_frame_equal(whole, probe(lens, sentences, vectors=vectors, seed=3, cache=tmp_path, training=QUICK))
    names = ["attention_words", "random_attention_words"]
    some = probe(lens, sentences, vectors=vectors, which=names, seed=3, training=QUICK)
    pd.testing.assert_frame_equal(some, whole.set_index("name").loc[names].reset_index())
    before = len(list(tmp_path.iterdir()))
    probe(lens, sentences, vectors=vectors, which=names, seed=4, cache=tmp_path, training=QUICK)
    assert len(list(tmp_path.iterdir())) == before + 2, "another seed has another twin"


def test_without_vectors_what_needs_none(lens: headscope.Lens, sentences: list[Document]) -> None:
    assert list(probe(lens, sentences, training=QUICK)["name"]) == ["right_branching", "attention"]
    with pytest.raises(InputError, match="distances_words needs word vectors"):
        probe(lens, sentences, which=["right_branching", "distances_words"])


def test_one_treebank_is_split_and_a_limit_is_about_training_only(lens: headscope.Lens) -> None:
    sentences = documents(200)
    whole = probe(lens, sentences, which=["right_branching"])
    limited = probe(lens, sentences, which=["right_branching"], max_sentences=50)
    pd.testing.assert_frame_equal(whole, limited)
    assert 0 < int(whole["words"][0]) < sum(head >= 0 for d in sentences for head in d.parents or ()) / 3


def test_what_cannot_be_probed_is_said(lens: headscope.Lens, sentences: list[Document]) -> None:
    with pytest.raises(InputError, match="There is no probe 'structural'; choose some of right_branching, "):
        probe(lens, sentences, which=["structural"])
    with pytest.raises(InputError, match="No probe is asked for"):
        probe(lens, sentences, which=[])
    with pytest.raises(InputError, match="too few"):
        probe(lens, sentences[:8])
    with pytest.raises(InputError, match="no dependency heads"):
        probe(lens, ["A text.", "Another."])


@pytest.mark.real
@pytest.mark.slow
def test_a_trained_model_beats_its_random_twin(minilm_lens: headscope.Lens, ewt: Path, glove: Path, tmp_path: Path) -> None:
    """On 500 real sentences already; the figures on the whole treebank are in docs/how-to/probe-attention.md."""
    sentences = [d for d in read_treebank(ewt) if 5 <= len(d.words or ()) <= 15][:500]
    table = probe(minilm_lens, sentences, vectors=glove, cache=tmp_path).set_index("name")
    assert math.isclose(table["uas"]["right_branching"], 0.3, abs_tol=0.1)
    assert table["low"]["attention_words"] > table["high"]["random_attention_words"]
    assert table["low"]["attention_words"] > table["high"]["right_branching"]
    assert table["low"]["attention"] > table["high"]["right_branching"]
    assert table["uas"]["attention_words"] > 0.5
