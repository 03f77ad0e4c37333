"""Unlabelled attachment score (UAS): the share of words whose head is found, and an interval by resampling sentences."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headscope.probes.base import NO_HEAD, Probe
from headscope.probes.batches import Examples
from headscope.statistics.kit.resampling import Array, resampled

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Attachment:
    """For each sentence, how many heads are right and of how many words; and the same without punctuation."""

    right: Counts
    words: Counts
    right_without_punctuation: Counts  # zeros where relations are not known
    words_without_punctuation: Counts

    @property
    def uas(self) -> float:
        return share(self.right, self.words)

    @property
    def uas_without_punctuation(self) -> float:
        """Not a number where relations are not known."""
        return share(self.right_without_punctuation, self.words_without_punctuation)

    def interval(self, seed: int = 0) -> tuple[float, float]:
        """(low, high) of the UAS."""
        return interval(self.right, self.words, seed)


def attachment(probe: Probe, examples: Examples) -> Attachment:
    """What a probe gets right: every word with a head counts, the roots do not."""
    right, words, right_other, words_other = np.zeros((4, len(examples.lengths)), dtype=np.int64)
    for batch in examples.batches(np.arange(len(examples.lengths))):
        sentences = examples.collate(batch, probe.needs)
        counted = (sentences.heads != NO_HEAD).numpy()
        found = (probe.predict(sentences) == sentences.heads).numpy() & counted
        right[batch], words[batch] = found.sum(-1), counted.sum(-1)
        for row, index in enumerate(batch):
            if examples.punctuation is not None:
                other = ~examples.punctuation[index]
                right_other[index] = found[row, : len(other)][other].sum()
                words_other[index] = counted[row, : len(other)][other].sum()
    return Attachment(right, words, right_other, words_other)


def share(right: Counts, words: Counts) -> float:
    """Of all words together, those that are right."""
    return float(right.sum() / words.sum()) if words.sum() else float("nan")


def interval(right: Counts, words: Counts, seed: int = 0) -> tuple[float, float]:
    """Of `share`, at 95 %, when sentences are drawn with replacement."""

    def shares(sums: dict[str, Array]) -> dict[str, Array]:
        return {"uas": sums["right"] / np.maximum(sums["words"], 1)}

    low, high = resampled({"right": right, "words": words}, shares, seed=seed)["uas"]
    return float(low), float(high)
