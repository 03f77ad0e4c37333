"""Sentences with gold heads for the probes: what they must have, and which of them are kept for what.

Parts are cut by the crc32 of a sentence's words, so they do not depend on the order or the seed, and a
sentence that comes twice is never in two parts.
"""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.errors import InputError
from headscope.text import Corpus, Document
from headscope.text.cut import cut

FEWEST = 20  # sentences to train on
EVALUATED = 5  # of one treebank alone, every fifth sentence is for evaluation
HELD_OUT = 10  # of the training sentences, every tenth tells when to stop
PUNCTUATION = "punct"

Indices = NDArray[np.int64]


def read_treebank(given: Any, max_sentences: int | None = None) -> list[Document]:
    """The sentences of a treebank (a path, a Corpus, or documents), with the layers that probes use.

    `max_sentences` takes that many, evenly spread: treebanks are ordered by genre.
    """
    sentences = [_bare(sentence) for document in Corpus.of(given) for sentence in _sentences(document)]
    if not sentences:
        raise InputError("The treebank has no sentences: there is nothing to train or evaluate a probe on.")
    if max_sentences is not None and max_sentences < 1:
        raise InputError(f"max_sentences is a number of sentences, not {max_sentences}.")
    if max_sentences is None or max_sentences >= len(sentences):
        return sentences
    return [sentences[place * len(sentences) // max_sentences] for place in range(max_sentences)]


def _sentences(document: Document) -> list[Document]:
    """A word's head is in its own sentence: what has several is cut."""
    if document.words is None or document.parents is None:
        raise InputError(
            f"{document.name}: this sentence has no dependency heads, which probes are trained on; "
            "give a treebank (CoNLL-U), or annotate the corpus (--annotate spacy:PIPELINE)."
        )
    spans = document.sentences or ()
    if len(spans) < 2:
        return [document]
    return [cut(document, *span, name=f"{document.name}#{number}") for number, span in enumerate(spans, 1)]


def _bare(sentence: Document) -> Document:
    return replace(sentence, tags=None, fine_tags=None, mentions=None, sentences=None)


def split_evaluation(sentences: Sequence[Document]) -> tuple[list[Document], list[Document]]:
    """(for training, for evaluation), where there is one treebank only: evaluation is crc32 = 0 modulo 5."""
    training = [document for document in sentences if _crc(document) % EVALUATED != 0]
    evaluation = [document for document in sentences if _crc(document) % EVALUATED == 0]
    return training, evaluation


def split_held_out(sentences: Sequence[Document]) -> tuple[Indices, Indices]:
    """(to learn from, to stop by): held out is crc32 / 5 = 0 modulo 10, so that it does not touch the other split."""
    held_out = np.array([_crc(document) // EVALUATED % HELD_OUT == 0 for document in sentences], dtype=bool)
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


class TooFew(InputError):
    """The treebank is too small for a probe."""


def check_enough(training: Sequence[Document], evaluation: Sequence[Document]) -> None:
    """Both parts, and what is held out, have words with heads."""
    if len(training) < FEWEST:
        raise TooFew(
            f"{len(training)} sentences are too few to train a probe and hold out a tenth: give at least {FEWEST}, "
            "better some thousands."
        )
    learned, held_out = ([training[place] for place in part] for part in split_held_out(training))
    parts = {"part to learn from": learned, "held-out tenth": held_out, "evaluation part": evaluation}
    for name, sentences in parts.items():
        if not with_heads(sentences):
            raise TooFew(f"The {name} has no word with a head: give a larger treebank.")


def with_heads(sentences: Iterable[Document]) -> int:
    """How many words have a head, which is all but the roots."""
    return sum(head >= 0 for document in sentences for head in document.parents or ())


def is_punctuation(document: Document) -> NDArray[np.bool_] | None:
    """(word,): whether its relation is `punct`; None where relations are not known."""
    if document.relations is None:
        return None
    return np.array([relation.split(":")[0] == PUNCTUATION for relation in document.relations])


def _crc(document: Document) -> int:
    return zlib.crc32(" ".join(document.words or ()).encode())
