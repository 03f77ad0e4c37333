"""How good an alignment is: AER, precision, recall and F1 (Och and Ney, 2003; kobayashi2020, section 5), with intervals."""

from collections.abc import Set
from typing import Any, NamedTuple

import numpy as np

from headscope.statistics.kit.resampling import RESAMPLES, Array, resampled
from headscope.text.links import Links, Pair


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


def bootstrap(counts: Any, *, seed: int = 0, resamples: int = RESAMPLES) -> tuple[Scores, Scores]:
    """The low and the high end of each score's interval: sentences are drawn with replacement, the same for all systems.

    counts: (..., sentence, 4) -> scores of shape (...), not a number with fewer than two sentences.
    """
    by_sentence = np.moveaxis(np.asarray(counts, dtype=np.float64), -2, 0)
    if len(by_sentence) < 2:
        unknown = Scores(*(np.full(by_sentence.shape[1:-1], np.nan) for _ in Scores._fields))
        return unknown, unknown
    ends = resampled({"counts": by_sentence}, lambda sums: scores(sums["counts"])._asdict(), seed=seed, resamples=resamples)
    low, high = zip(*ends.values(), strict=True)
    return Scores(*low), Scores(*high)


def _share(part: Array, whole: Array) -> Array:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), 1.0)
