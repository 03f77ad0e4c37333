"""How broadly the ends of a text look: its first token, [CLS] in BERT, and its last (clark2019, section 3.3).

In a decoder the first token sees only itself; its last token is the one that has the whole text before it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Fields, Statistic, ratio
from headscope.statistics.kit.totals import given
from headscope.statistics.registry import statistic
from headscope.statistics.surface.entropy import row_entropies, uniform_entropies


@statistic
class EntropyEnds(Statistic):
    """Mean entropy, in nats, of the first token's row ([CLS]) and of the last one's, beside attending to all alike."""

    name = "entropy_ends"
    usual = False
    fields = ("first", "first_uniform", "last", "last_uniform", "texts")

    def update(self, block: ScoreBlock) -> None:
        scores, sums = block.scores(self.measure).clamp(min=0), block.cached(given, self.measure).clamp(min=0)
        uniform = uniform_entropies(block)
        if block.is_first:
            self.add("texts", block.site, float(block.weights.shape[0]))
            self.add("first", block.site, row_entropies(scores[:, :, 0], sums[:, :, 0]).sum(0))
            self.add("first_uniform", block.site, uniform[:, 0].sum())
        texts, rows = _last_rows(block)
        self.add("last", block.site, row_entropies(scores[texts, :, rows], sums[texts, :, rows]).sum(0))
        self.add("last_uniform", block.site, uniform[texts, rows].sum())

    def columns(self, fields: Fields) -> dict[str, Array]:
        names = ("first", "first_uniform", "last", "last_uniform")
        return {name: ratio(fields[name], fields["texts"]) for name in names}


def _last_rows(block: ScoreBlock) -> tuple[Tensor, Tensor]:
    """The texts whose last row is in this block, and where in it."""
    last = block.query_lengths - 1 - block.rows.start
    texts = torch.nonzero((last >= 0) & (last < len(block.rows)))[:, 0]
    return texts, last[texts]
