"""How spread out a head's attention is (vig2019, eq. 7; clark2019, section 3.3)."""

import torch

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Columns, Sums, ratio
from headscope.statistics.columns import NATS, Column
from headscope.statistics.kit.totals import given, queries
from headscope.statistics.registry import statistic
from headscope.statistics.surface.null_attention import NullFiltered

NULL = 0.9  # a row that gives more than this to the first token says nothing about the others


def row_entropies(scores: torch.Tensor, sums: torch.Tensor) -> torch.Tensor:
    """Entropy in nats of each row, normalised to sum 1: log S - (sum s log s) / S; 0 for an empty row."""
    informed = torch.xlogy(scores, scores).sum(-1)
    some = sums > 0
    return torch.where(some, sums.clamp(min=1e-30).log() - informed / sums.clamp(min=1e-30), 0.0)


def uniform_entropies(block: ScoreBlock, first_key: int = 0) -> torch.Tensor:
    """Entropy of attending alike to every token from `first_key` on that a row may see: (batch, row), 0 at padding.

    A decoder's rows see what is not after them; windows and chunks are not taken into account.
    """
    seen = block.key_mask.sum(-1)[:, None].expand_as(block.row_mask)
    if block.is_causal:
        seen = torch.minimum(seen, block.row_positions + 1)
    return (seen - first_key).clamp(min=1).log() * block.row_mask


@statistic("entropy")
class Entropy(NullFiltered):
    """Mean entropy of a row, in nats, beside that of attending to all alike: how broadly a head looks.

    `without_first` renormalises what is left, and leaves out rows that give over 90 % to the first token (vig2019, note 4).
    """

    sums = ("entropy", "uniform", "rows")
    card_place = 60
    entropy = Column("Entropy", NATS, "How broadly a token looks: 0 for one token, more for many.", "looks more broadly")
    uniform = Column(
        "Entropy of looking at all alike", NATS, "The most that the entropy could be.", "is longer", of_heads=False
    )

    def update(self, block: ScoreBlock) -> None:
        entropies = row_entropies(self.scores_in(block).clamp(min=0), self.given_in(block).clamp(min=0))
        uniform = uniform_entropies(block, self.first_key)
        if self.without_first:
            counted = self._counted(block)
            self.add(
                block.site,
                entropy=(entropies * counted).sum((0, 2)),
                uniform=(uniform[:, None] * counted).sum((0, 2)),
                rows=counted.sum((0, 2)),
            )
        else:
            self.add(block.site, entropy=entropies.sum((0, 2)), uniform=uniform.sum(), rows=queries(block))

    def _counted(self, block: ScoreBlock) -> torch.Tensor:
        """(batch, head, row): 1 for the rows that do not give over 90 % of what they give to the first token."""
        whole = block.cached(given, self.measure)
        return ((whole - self.given_in(block) <= NULL * whole) & block.row_mask[:, None]).float()

    def columns(self, sums: Sums) -> Columns:
        return {name: ratio(sums[name], sums["rows"]) for name in ("entropy", "uniform")}
