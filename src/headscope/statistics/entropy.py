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


def uniform_entropies(block: AttentionBlock) -> torch.Tensor:
    """Entropy of attending alike to every token that a row may see: (batch, row), 0 at padding.

    A decoder's rows see what is not after them; windows and chunks are not taken into account.
    """
    seen = block.key_mask.sum(-1)[:, None].expand_as(block.row_mask)
    if block.site.stack == "decoder" and block.site.kind == "self":
        seen = torch.minimum(seen, block.row_positions + 1)
    return seen.clamp(min=1).log() * block.row_mask


@statistic
class Entropy(Statistic):
    """Mean entropy of a row, in nats, beside that of attending to all alike: how broadly a head looks."""

    name = "entropy"
    fields = ("entropy", "uniform", "rows")

    def update(self, block: AttentionBlock) -> None:
        entropies = row_entropies(block.scores(self.measure).clamp(min=0), given(block, self.measure).clamp(min=0))
        self.add("entropy", block.site, entropies.sum((0, 2)))
        self.add("uniform", block.site, uniform_entropies(block).sum())
        self.add("rows", block.site, queries(block))

    def columns(self, fields: Fields) -> dict[str, Array]:
        return {name: ratio(fields[name], fields["rows"]) for name in ("entropy", "uniform")}
