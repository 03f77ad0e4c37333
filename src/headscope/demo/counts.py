"""Where each head's attention goes over a text, by weight and by norm, out of the tables of a study.

The kinds of tokens are those of kobayashi2020 (appendix D.2); offsets and entropy are as in clark2019 (section 3).
"""

from __future__ import annotations

import torch
from torch import Tensor

from headscope.study import Run

MEASURES = ("weight", "norm")
OFFSETS = ("previous", "same", "next")
KINDS = ("cls", "sep", "punctuation", "other")


class Counts:
    """Sums for every head, (layer, head) each and a query token on average, and the shares that follow from them."""

    def __init__(self, layers: int, heads: int) -> None:
        def zeros() -> Tensor:
            return torch.zeros(layers, heads, dtype=torch.float64)

        self.sums = {measure: {target: zeros() for target in (*OFFSETS, *KINDS)} for measure in MEASURES}
        self.totals = {measure: zeros() for measure in MEASURES}
        self.entropy = zeros()
        self.most_entropy = zeros()  # what it would be if every query looked at all tokens alike

    @classmethod
    def of(cls, run: Run, layers: int, heads: int) -> Counts:
        """The counts in the tables of a run, whose rows are the heads layer by layer."""

        def column(table: str, name: str) -> Tensor:
            return torch.tensor(run[table][name].to_numpy()).reshape(layers, heads)

        counts = cls(layers, heads)
        counts.entropy, counts.most_entropy = column("entropy", "entropy"), column("entropy", "uniform")
        for measure in MEASURES:
            suffix = "" if measure == "weight" else f"_{measure}"
            shares = {name: column(f"offsets{suffix}", name) for name in OFFSETS}
            shares["cls"] = column(f"special_tokens{suffix}", "[CLS]")
            shares["sep"] = column(f"special_tokens{suffix}", "[SEP]")
            shares["punctuation"] = column(f"punctuation{suffix}", "period") + column(f"punctuation{suffix}", "comma")
            shares["other"] = 1 - shares["cls"] - shares["sep"] - shares["punctuation"]
            counts.totals[measure] = column(f"strength{suffix}", "strength")
            counts.sums[measure] = {target: share * counts.totals[measure] for target, share in shares.items()}
        return counts

    def shares(self, measure: str) -> dict[str, Tensor]:
        """The share of each target in all that a head gives out: (layer, head)"""
        return {target: received / self.totals[measure] for target, received in self.sums[measure].items()}

    def layer_shares(self, measure: str) -> dict[str, Tensor]:
        """The same for the heads of a layer together: (layer,)"""
        total = self.totals[measure].sum(1)
        return {target: received.sum(1) / total for target, received in self.sums[measure].items()}

    def breadth(self) -> Tensor:
        """The entropy of the weights as a part of the most there could be, 1 for a uniform head: (layer, head)"""
        return self.entropy / self.most_entropy
