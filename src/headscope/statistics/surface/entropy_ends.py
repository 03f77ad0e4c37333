"""How broadly the ends of a text look: its first token, [CLS] in BERT, and its last (clark2019, section 3.3).

In a decoder the first token sees only itself; its last token is the one that has the whole text before it.
"""

import torch
from torch import Tensor

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Columns, Statistic, Sums, ratio
from headscope.statistics.columns import NATS, Column
from headscope.statistics.kit.totals import given
from headscope.statistics.registry import statistic
from headscope.statistics.surface.entropy import row_entropies, uniform_entropies


@statistic("entropy_ends")
class EntropyEnds(Statistic):
    """Mean entropy, in nats, of the first token's row ([CLS]) and of the last one's, beside attending to all alike."""

    usual = False
    sums = ("first", "first_uniform", "last", "last_uniform", "texts")
    card_place = 70
    first = Column("Entropy of the first token", NATS, "How broadly the first token looks.", "looks more broadly")
    first_uniform = Column("Most for the first token", NATS, "The most that it could be.", "is longer", of_heads=False)
    last = Column("Entropy of the last token", NATS, "How broadly the last token looks.", "looks more broadly")
    last_uniform = Column("Most for the last token", NATS, "The most that it could be.", "is longer", of_heads=False)

    def update(self, block: ScoreBlock) -> None:
        scores, sums = block.scores(self.measure).clamp(min=0), block.cached(given, self.measure).clamp(min=0)
        uniform = uniform_entropies(block)
        if block.is_first:
            first = row_entropies(scores[:, :, 0], sums[:, :, 0]).sum(0)
            self.add(block.site, texts=float(block.weights.shape[0]), first=first, first_uniform=uniform[:, 0].sum())
        texts, rows = _last_rows(block)
        last = row_entropies(scores[texts, :, rows], sums[texts, :, rows]).sum(0)
        self.add(block.site, last=last, last_uniform=uniform[texts, rows].sum())

    def columns(self, sums: Sums) -> Columns:
        return {name: ratio(sums[name], sums["texts"]) for name in self.sums if name != "texts"}


def _last_rows(block: ScoreBlock) -> tuple[Tensor, Tensor]:
    """The texts whose last row is in this block, and where in it."""
    last = block.query_lengths - 1 - block.rows.start
    texts = torch.nonzero((last >= 0) & (last < len(block.rows)))[:, 0]
    return texts, last[texts]
