"""ScoreBlock: some query rows of one attention for one batch, with a score for each query and key, in tokens or in words."""

from __future__ import annotations

from typing import ClassVar

from headscope.later import Tensor, torch
from headscope.lens.cached import Cached
from headscope.lens.side import Side
from headscope.lens.site import Site
from headscope.lens.tokens.batch import Batch


class ScoreBlock(Cached):
    """What a statistic is shown: AttentionBlock (tokens, and all that the weights multiply) or WordBlock (words).

    The blocks of a site come one after another and have all its rows together. Scores are zero wherever the query or the
    key is padding, so that sums over a block need no mask.
    """

    level: ClassVar[str]  # "token" | "word"
    site: Site
    rows: range
    batch: Batch
    weights: Tensor  # batch head row key, float32
    attending: Side  # what the rows stand for: of all rows of the site, not only this block's
    attended: Side  # what the keys stand for
    query_mask: Tensor  # batch query, False at padding: of all rows of the site, not only this block's
    key_mask: Tensor  # batch key, False at padding
    asked: frozenset[str] = frozenset()  # measures that will be asked of it, where that is known: some share their sums

    def scores(self, measure: str = "weight") -> Tensor:
        """The measure `measure` for every pair: (batch, head, row, key); one head for joint measures."""
        raise NotImplementedError

    @property
    def row_mask(self) -> Tensor:
        """(batch, row), False at padding."""
        return self.query_mask[:, self.rows.start : self.rows.stop]

    @property
    def query_lengths(self) -> Tensor:
        """How many rows each text has in all of a site's blocks together: (batch,)"""
        return self.query_mask.sum(1)

    @property
    def row_positions(self) -> Tensor:
        """Position of each query row in its text: (row,)"""
        return torch.arange(self.rows.start, self.rows.stop, device=self.weights.device)

    @property
    def key_positions(self) -> Tensor:
        """(key,)"""
        return torch.arange(self.weights.shape[-1], device=self.weights.device)

    @property
    def is_first(self) -> bool:
        """Whether it has the first rows of its site."""
        return self.rows.start == 0

    @property
    def is_last(self) -> bool:
        """Whether it has the last rows of its site."""
        return self.rows.stop >= self.query_mask.shape[1]

    @property
    def is_causal(self) -> bool:
        """Whether a query sees no later key: the self attention of a decoder."""
        return self.site.stack == "decoder" and self.site.kind == "self"
