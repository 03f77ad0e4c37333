"""How likely two tokens are to be in a dependency relation, by their distance (vig2019, section 5.3.3)."""

from __future__ import annotations

import numpy as np

from headscope.later import pd, torch
from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Columns, Statistic, Sums, ratio
from headscope.statistics.registry import statistic
from headscope.statistics.words.related_pairs import ATTENDED_IS_PARENT, related_pairs

FURTHEST = 64  # tokens; what is further apart counts in the mean length only


@statistic("dependency_lengths")
class DependencyLengths(Statistic):
    """Probability of a dependency relation between two tokens by their distance, and the mean length of one.

    It follows from the documents and the tokenizer alone; every unordered pair of two tokens counts once.
    """

    usual = False
    needs = ("parents",)
    resampled = False

    def update(self, block: ScoreBlock) -> None:
        if not self.starts_batch(block):
            return
        _, child, parent, which = block.batch.cached(related_pairs, block.attended).unbind(1)
        apart = (child - parent).abs()[which == ATTENDED_IS_PARENT]
        counts = torch.bincount(apart.clamp(max=FURTHEST + 1), minlength=FURTHEST + 2).double().cpu().numpy()
        pairs = pairs_by_distance(block.key_mask.sum(1).cpu().numpy())
        self.add_arrays(related=counts[1:-1], pairs=pairs, lengths=np.array([float(apart.sum()), float(len(apart))]))

    def labels(self) -> pd.DataFrame:
        return pd.DataFrame({"distance": np.arange(1, FURTHEST + 1)})

    def columns(self, sums: Sums) -> Columns:
        """`mean_length` is the same in every row."""
        mean = ratio(sums["lengths"][..., :1], sums["lengths"][..., 1:])
        return {
            "probability": ratio(sums["related"], sums["pairs"]),
            "related": sums["related"],
            "pairs": sums["pairs"],
            "mean_length": mean + np.zeros_like(sums["related"]),
        }


def pairs_by_distance(lengths: np.ndarray) -> Array:
    """How many unordered pairs of tokens lie 1, 2, ... apart in texts of these lengths.

    >>> pairs_by_distance(np.array([3, 2]))[:3]
    array([3., 1., 0.])
    """
    distances = np.arange(1, FURTHEST + 1)
    return np.maximum(lengths[:, None] - distances, 0).sum(0).astype(np.float64)
