"""Aligners beside cross attention on real Hansards pairs: gradients, a statistical aligner, a decoder-only model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import headscope
from headscope.alignment.choice import Choice
from headscope.alignment.eflomal import eflomal_links, find_program
from headscope.alignment.gradient import gradient_links
from headscope.alignment.link_files import read_links
from headscope.alignment.linking import link
from headscope.errors import InputError
from headscope.lens.tokens.prompts import Prompt
from headscope.statistics.alignment.scores import alignment_counts, scores
from headscope.text import Document
from headscope.text.links import Pair
from headscope.text.parallel import parallel_documents, sentence_lengths
from tests.conftest import SHARED

pytestmark = [pytest.mark.real, pytest.mark.slow]

HANSARDS = Path(os.environ.get("HEADSCOPE_DATA", SHARED / "data")) / "alignment" / "hansards"


@pytest.fixture(scope="module")
def hansards() -> list[Document]:
    """French is the source; the files have English first, counted from 1."""
    if not HANSARDS.is_dir():
        pytest.skip("../shared/data/alignment/hansards is not here")
    documents = list(parallel_documents(HANSARDS / "en-fr.txt", first="target"))
    gold = read_links(HANSARDS / "en-fr.gold", sentence_lengths(documents), base=1, first="target")
    return [replace(document, alignment=links) for document, links in zip(documents, gold, strict=True)]


def aer(documents: Sequence[Document], found: Sequence[frozenset[Pair]]) -> float:
    pairs = [(links, document.alignment) for links, document in zip(found, documents, strict=True)]
    return 100 * float(scores(np.sum([alignment_counts(links, gold) for links, gold in pairs if gold], axis=0)).aer)


def chance(documents: Sequence[Document]) -> float:
    """Each target word linked with a source word drawn at random: the mean of 20 draws."""
    dice = np.random.default_rng(0)
    sizes = list(sentence_lengths(documents))
    drawn = [
        [frozenset((int(dice.integers(source)), word) for word in range(target)) for source, target in sizes]
        for _ in range(20)
    ]
    return float(np.mean([aer(documents, links) for links in drawn]))


def test_smoothed_gradients_align(hansards: list[Document], opus: Path) -> None:
    """Far below chance, and far below the plain gradient: the smoothing matters."""
    shortest = sorted(hansards, key=lambda document: len(document.words or ()) + len(document.target_words or ()))
    some = [document for document in shortest if len(document.target_words or ()) >= 5][:20]
    with headscope.open(opus) as lens:
        smooth = aer(some, gradient_links(lens, some, samples=8, batch_size=20))
        plain = aer(some, gradient_links(lens, some, samples=1, noise=0, batch_size=20))
    assert smooth < chance(some) - 30
    assert smooth < plain - 10


def test_a_statistical_aligner_aligns(hansards: list[Document]) -> None:
    try:
        find_program()
    except InputError:
        pytest.skip("eflomal-align is not installed")
    assert aer(hansards, eflomal_links(hansards)) < 30  # 21 on these 200 pairs, and two runs differ a little
    assert aer(hansards, eflomal_links(hansards, symmetrisation="grow-diag-final-and")) < 30


def test_a_small_instruction_model_has_an_alignment_head(hansards: list[Document], smollm: Path) -> None:
    """Head 14.3 of SmolLM2 was found on the first 60 pairs; these are others."""
    others = [document for document in hansards[60:] if len(document.words or ()) < 20][:12]
    with headscope.open(smollm) as lens:
        found = link(lens, others, Choice(14, 3, "weight"), prompt=Prompt())
        in_chat = link(lens, others, Choice(14, 3, "weight"), prompt=Prompt.chat(lens.tokenizer))
        somewhere = link(lens, others, Choice(0, 0, "weight"), prompt=Prompt())
    assert max(aer(others, found), aer(others, in_chat)) < min(chance(others) - 30, aer(others, somewhere) - 10)
