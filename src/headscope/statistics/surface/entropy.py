"""How spread out a head's attention is (vig2019, eq. 7; clark2019, section 3.3), and the attention of the ends of a text.

The first token is [CLS] in BERT. In a decoder it sees only itself; the last token is the one that has the whole text
before it.
"""

from __future__ import annotations

from headscope.later import Tensor, torch
from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Statistic
from headscope.statistics.columns import NATS, Column
from headscope.statistics.kit.row_sums import given, row_sums
from headscope.statistics.kit.text_means import Averaged
from headscope.statistics.kit.totals import keys_in_sight, queries
from headscope.statistics.registry import statistic
from headscope.statistics.surface.null_attention import NullFiltered

NULL = 0.9  # a row that gives more than this to the first token says nothing about the others


def row_entropies(informed: Tensor, sums: Tensor) -> Tensor:
    """Entropy in nats of each row, normalised to sum 1: log S - (sum s log s) / S; 0 for an empty row."""
    some = sums > 0
    return torch.where(some, sums.clamp(min=1e-30).log() - informed / sums.clamp(min=1e-30), 0.0)


def uniform_entropies(block: ScoreBlock, first_key: int = 0) -> Tensor:
    """Entropy of attending alike to every token from `first_key` on that a row may see: (batch, row), 0 at padding."""
    return keys_in_sight(block, first_key).clamp(min=1).log() * block.row_mask


@statistic("entropy")
class Entropy(Averaged, NullFiltered):
    """Mean entropy of a row, in nats, beside that of attending to all alike: how broadly a head looks.

    `without_first` renormalises what is left, and leaves out rows that give over 90 % to the first token (vig2019, note 4).
    """

    sums = ("entropy", "uniform", "rows")
    per = "rows"
    card_place = 60
    entropy = Column(
        "Breadth of attention (entropy)",
        NATS,
        "How broadly a token looks: 0 for one token, more for many.",
        "looks more broadly",
    )
    uniform = Column(
        "Largest possible entropy (all alike)", NATS, "The most that the entropy could be.", "is longer", of_heads=False
    )

    def update(self, block: ScoreBlock) -> None:
        found = row_sums(block, self.measure)
        informed = found.informed_beyond_first
        if not self.without_first:
            informed = found.informed_of_first + informed
        entropies = row_entropies(informed, self.given_in(block).clamp(min=0))
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
            self.add(block.site, entropy=entropies.sum((0, 2)), uniform=uniform.sum(), rows=block.cached(queries))

    def _counted(self, block: ScoreBlock) -> Tensor:
        """(batch, head, row): 1 for the rows that do not give over 90 % of what they give to the first token."""
        whole = block.cached(given, self.measure)
        return ((whole - self.given_in(block) <= NULL * whole) & block.row_mask[:, None]).float()


@statistic("entropy_ends")
class EntropyEnds(Statistic):
    """Mean entropy, in nats, of the first token's row ([CLS]) and of the last one's, beside attending to all alike."""

    usual = False
    sums = ("first", "first_uniform", "last", "last_uniform", "texts")
    per = "texts"
    card_place = 70
    first = Column(
        "Breadth of the first token's attention (entropy)", NATS, "How broadly the first token looks.", "looks more broadly"
    )
    first_uniform = Column(
        "Largest possible entropy of the first token", NATS, "The most that it could be.", "is longer", of_heads=False
    )
    last = Column(
        "Breadth of the last token's attention (entropy)", NATS, "How broadly the last token looks.", "looks more broadly"
    )
    last_uniform = Column(
        "Largest possible entropy of the last token", NATS, "The most that it could be.", "is longer", of_heads=False
    )

    def update(self, block: ScoreBlock) -> None:
        scores, sums = block.scores(self.measure), block.cached(given, self.measure).clamp(min=0)
        uniform = uniform_entropies(block)
        if block.is_first:
            first = row_entropies(informed(scores[:, :, 0]), sums[:, :, 0]).sum(0)
            self.add(block.site, texts=float(block.weights.shape[0]), first=first, first_uniform=uniform[:, 0].sum())
        texts, rows = _last_rows(block)
        last = row_entropies(informed(scores[texts, :, rows]), sums[texts, :, rows]).sum(0)
        self.add(block.site, last=last, last_uniform=uniform[texts, rows].sum())


def informed(rows: Tensor) -> Tensor:
    """(..., key) -> (...): the sum of s log s; 0 log 0 is 0, and negative scores count as 0."""
    positive = rows.clamp(min=0)
    return torch.xlogy(positive, positive).sum(-1)


def _last_rows(block: ScoreBlock) -> tuple[Tensor, Tensor]:
    """The texts whose last row is in this block, and where in it."""
    last = block.query_lengths - 1 - block.rows.start
    texts = torch.nonzero((last >= 0) & (last < len(block.rows)))[:, 0]
    return texts, last[texts]
