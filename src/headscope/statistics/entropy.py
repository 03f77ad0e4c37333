"""How spread out a head's attention is (vig2019, eq. 7; clark2019, section 3.3)."""

from __future__ import annotations

import torch

from headscope.lens.block import AttentionBlock
from headscope.statistics.base import Array, Fields, Statistic, ratio
from headscope.statistics.registry import statistic
from headscope.statistics.totals import given, queries


def row_entropies(scores: torch.Tensor, sums: torch.Tensor) -> torch.Tensor:
    """Entropy in nats of each row, normalised to sum 1: log S - (sum s log s) / S; 0 for an empty row."""
    informed = torch.xlogy(scores, scores).sum(-1)
    some = sums > 0
    return torch.where(some, sums.clamp(min=1e-30).log() - informed / sums.clamp(min=1e-30), 0.0)


@statistic
class Entropy(Statistic):
    """Mean entropy of a row, in nats: how spread out a head's attention is."""

    name = "entropy"
    fields = ("entropy", "rows")

    def update(self, block: AttentionBlock) -> None:
        entropies = row_entropies(block.scores(self.measure).clamp(min=0), given(block, self.measure).clamp(min=0))
        self.add("entropy", block.site, entropies.sum((0, 2)))
        self.add("rows", block.site, queries(block))

    def columns(self, fields: Fields) -> dict[str, Array]:
        return {"entropy": ratio(fields["entropy"], fields["rows"])}
