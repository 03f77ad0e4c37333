"""What heads are tried on as classifiers: words and their heads, and how far apart they stand (clark2019, section 4.2)."""

from typing import NamedTuple

import numpy as np

from headscope.errors import InputError
from headscope.statistics.base import Array, ratio
from headscope.text import Document

POSSESSIVES = ("poss", "nmod:poss")  # Stanford's and UD's
CLITICS = ("'s", "’s", "'", "’", "s")  # the last where the apostrophe was forgotten
CLITIC_RELATIONS = ("case", "possessive")

FURTHEST = 32  # words: the fixed-offset baseline tries offsets up to here on both sides
BINS = 2 * FURTHEST + 3  # one an offset, and one at each end for what is further away


class Case(NamedTuple):
    """A word and its head, both as indices of the document's words."""

    dependent: int
    head: int
    relation: str


def cases_of(document: Document, clitics: bool = True, subtypes: bool = True) -> list[Case]:
    """Every word that has a head, which leaves roots out.

    With `clitics`, the clitic of a possessive stands for it: in `Ann 's hat`, 's is the dependent of hat, as the
    paper counts it. Without `subtypes`, `nmod:poss` is `nmod`.
    """
    if document.parents is None or document.relations is None:
        raise InputError(f"{document.name or 'A document'} has no dependencies: give a treebank, or annotate the text.")
    cases = []
    for word, (head, relation) in enumerate(zip(document.parents, document.relations, strict=True)):
        if head >= 0:
            dependent = word + 1 if clitics and has_clitic(document, word) else word
            cases.append(Case(dependent, head, relation if subtypes else relation.split(":")[0]))
    return cases


def has_clitic(document: Document, word: int) -> bool:
    """Is the word a possessive whose clitic follows it?"""
    words, heads, relations = document.words or (), document.parents or (), document.relations or ()
    return (
        relations[word] in POSSESSIVES
        and word + 1 < len(words)
        and words[word + 1].lower() in CLITICS
        and heads[word + 1] == word
        and relations[word + 1] in CLITIC_RELATIONS
    )


def offset_bin(offset: int) -> int:
    """The place of an offset in a histogram of `BINS`."""
    return max(-FURTHEST - 1, min(offset, FURTHEST + 1)) + FURTHEST + 1


def best_offsets(histograms: Array) -> Array:
    """(..., BINS) -> (...): the most frequent offset, the nearer of two alike, and the left of two as near."""
    nearest_first = np.array(sorted(range(-FURTHEST, FURTHEST + 1), key=lambda offset: (abs(offset), offset)))
    return nearest_first[histograms[..., nearest_first + FURTHEST + 1].argmax(-1)].astype(np.float64)


def offset_accuracies(histograms: Array, offsets: Array) -> Array:
    """(..., BINS), (...) -> (...): how often the head stands at that offset from its dependent."""
    at = (offsets.astype(np.int64) + FURTHEST + 1)[..., None]
    return ratio(np.take_along_axis(histograms, at, -1)[..., 0], histograms.sum(-1))


def held_out_offset_accuracies(histograms: Array) -> Array:
    """(..., half, BINS) -> (...): every case is tried with the offset that is the best in the other half."""
    swapped = best_offsets(histograms)[..., ::-1]
    counts = histograms.sum(-1)
    accuracies = offset_accuracies(histograms, swapped)
    both = (counts > 0).all(-1)
    return np.where(both, ratio((np.nan_to_num(accuracies) * counts).sum(-1), counts.sum(-1)), np.nan)
