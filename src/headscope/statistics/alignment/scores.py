"""How good an alignment is: AER, precision, recall and F1 (Och and Ney, 2003; kobayashi2020, section 5), with intervals."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headscope.text.links import Links, Pair

RESAMPLES, LEVEL, CHUNK = 1000, 0.95, 50  # as for a study's tables

Array = NDArray[Any]


class Counts(NamedTuple):
    """All that the scores need to know of the links A found in a sentence; they are summed over sentences."""

    found: int  # |A|
    found_in_sure: int  # |A & S|
    found_in_possible: int  # |A & P|
    sure: int  # |S|


class Scores(NamedTuple):
    """One value for each system, from 0 to 1."""

    aer: Array
    precision: Array
    recall: Array
    f1: Array


def alignment_counts(found: Set[Pair], gold: Links) -> Counts:
    """
    >>> alignment_counts({(0, 0), (1, 1), (2, 1)}, Links(frozenset({(0, 0)}), frozenset({(1, 1)})))
    Counts(found=3, found_in_sure=1, found_in_possible=2, sure=1)
    """
    return Counts(len(found), len(found & gold.sure), len(found & gold.possible), len(gold.sure))


def counts_of_chosen(chosen: Array, gold: Links) -> Array:
    """The counts of many systems at once that choose one source word for each target word.

    chosen: (..., target word), the source word or -1 for no link -> (..., 4), as alignment_counts has them.
    """
    words = chosen.shape[-1]
    sources = 1 + max(chosen.max(initial=-1), max((source for source, _ in gold.possible), default=-1))
    value = np.zeros((sources + 1, words, 3), dtype=np.int64)  # of each link: 1, is it sure, is it possible; row -1 is none
    value[:-1, :, 0] = 1
    for index, links in ((1, gold.sure), (2, gold.possible)):
        inside = [pair for pair in links if pair[1] < words]
        value[[source for source, _ in inside], [target for _, target in inside], index] = 1
    counted = value[chosen, np.arange(words)].sum(-2)
    return np.concatenate([counted, np.full((*counted.shape[:-1], 1), len(gold.sure))], axis=-1)


def scores(counts: Any) -> Scores:
    """Scores from counts (..., 4) that are summed over the sentences.

    AER = 1 - (|A & S| + |A & P|) / (|A| + |S|); precision = |A & P| / |A|; recall = |A & S| / |S|.
    Where there is nothing to get wrong, nothing is wrong: no links found have precision 1, no sure links recall 1, and
    with neither AER is 0. So a system that finds nothing has AER 1 wherever something is sure, and if all gold links are
    sure, AER = 1 - F1 without exception.
    """
    found, in_sure, in_possible, sure = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    precision, recall = _share(in_possible, found), _share(in_sure, sure)
    aer = 1 - _share(in_sure + in_possible, found + sure)
    f1 = 2 * precision * recall / np.where(precision + recall > 0, precision + recall, 1)
    return Scores(aer, precision, recall, f1)


def bootstrap(counts: Any, *, seed: int = 0, resamples: int = RESAMPLES, level: float = LEVEL) -> tuple[Scores, Scores]:
    """The low and the high end of each score's interval: sentences are drawn with replacement, the same for all systems.

    counts: (..., sentence, 4) -> scores of shape (...), not a number with fewer than two sentences.
    """
    given = np.asarray(counts, dtype=np.float64)
    systems, sentences = given.shape[:-2], given.shape[-2]
    if sentences < 2:
        unknown = Scores(*(np.full(systems, np.nan) for _ in Scores._fields))
        return unknown, unknown
    by_sentence = np.moveaxis(given, -2, 0).reshape(sentences, -1)
    generator = np.random.default_rng(seed)
    sums = np.empty((resamples, by_sentence.shape[1]))
    for start in range(0, resamples, CHUNK):
        size = min(CHUNK, resamples - start)
        draws = generator.multinomial(sentences, np.full(sentences, 1 / sentences), size=size)
        sums[start : start + size] = draws.astype(np.float64) @ by_sentence
    resampled = np.stack(scores(sums.reshape(resamples, *systems, 4)))
    low, high = np.quantile(resampled, ((1 - level) / 2, (1 + level) / 2), axis=1)
    return Scores(*low), Scores(*high)


def _share(part: Array, whole: Array) -> Array:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), 1.0)
