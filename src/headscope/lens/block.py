"""AttentionBlock: one attention site, one block of query rows, one batch. What streams out of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from headscope.errors import NormsUnavailable
from headscope.later import Tensor, torch
from headscope.lens.cached import Cached
from headscope.lens.measure import MEASURES
from headscope.lens.score_block import ScoreBlock
from headscope.lens.side import token_side
from headscope.lens.site import Site
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import TokenSequence

if TYPE_CHECKING:
    from headscope.lens.watching import Projection, ResidualConnection


@dataclass(eq=False, repr=False)
class KeySide(Cached):
    """What a site's blocks of one batch share: keys, values, and what is derived from them once.

    Grouped heads: `key_values` and `keys` have one entry per key-value head; `values` repeats them.
    """

    site: Site
    key_values: Tensor  # batch group key d_head
    keys: Tensor | None  # batch group key d_head, after rotary positions
    mask: Tensor | None  # batch key, False at padding; None without padding
    _projection: Projection | None
    inputs: Tensor | None = None  # batch key d_model: the x that values are made from; None where it is not known

    @property
    def projection(self) -> Projection:
        if self._projection is None:
            raise NormsUnavailable(
                f"{self.site.name}: only weights can be read here, because {self.site.why_no_norms}; "
                "use the measure 'weight'."
            )
        return self._projection

    @cached_property
    def values(self) -> Tensor:
        """Value vectors, one per head: (batch, head, key, d_head), float32."""
        return repeat_groups(self.key_values.float(), self.site.heads)


@dataclass(frozen=True)
class ResidualRows:
    """How a block's rows join the residual stream: what the heads bring, and what it is added to."""

    surroundings: ResidualConnection
    output: Tensor  # batch row head d_head: what W_O reads of each head, behind its gate
    residual: Tensor  # batch row d_model


@dataclass(eq=False, repr=False)
class AttentionBlock(ScoreBlock):
    """Query rows `rows` of one site for one batch: the weights, and access to everything they multiply."""

    level = "token"

    site: Site
    rows: range
    weights: Tensor  # batch head row key, float32
    queries: Tensor | None  # batch head row d_head, after rotary positions
    key_side: KeySide
    batch: Batch
    _joining: ResidualRows | None = None
    _gates: Tensor | None = None
    direction: Tensor | None = None  # batch row d_model: along which `projection` is measured, where one was chosen

    def __post_init__(self) -> None:
        batch, site = self.batch, self.site
        self.attending = batch.cached(token_side, batch.query_side(site))
        self.attended = batch.cached(token_side, batch.key_side(site))
        queries, keys = batch.query_mask(site), self.key_side.mask
        self.query_mask = self._all(batch.query_length(site)) if queries is None else queries
        self.key_mask = self._all(self.weights.shape[-1]) if keys is None else keys

    def scores(self, measure: str = "weight") -> Tensor:
        return self.cached(MEASURES[measure].compute)

    @property
    def values(self) -> Tensor:
        """(batch, head, key, d_head)"""
        return self.key_side.values

    @property
    def keys(self) -> Tensor | None:
        """(batch, head, key, d_head)"""
        keys = self.key_side.keys
        return None if keys is None else repeat_groups(keys.float(), self.site.heads)

    @property
    def joining(self) -> ResidualRows:
        """How these rows join the residual stream."""
        if self._joining is None:
            raise NormsUnavailable(
                f"{self.site.name}: what the model adds its output to was not found, so "
                "nothing can be said of the residual connection; use the measure 'joint_norm'."
            )
        return self._joining

    @property
    def gates(self) -> Tensor | None:
        """What each row multiplies the heads' values with before W_O reads them: (batch, row, head, d_head), float32.

        Or a matrix each, (batch, row, head, d_head, d_head), where a row mixes a head's dimensions. None where nothing
        stands between the two.
        """
        if self.site.gated and self._gates is None:
            raise NormsUnavailable(
                f"{self.site.name}: its gates are not read in a pass with gradients; take norms from lens.run or lens.read."
            )
        return self._gates

    @property
    def row_mask(self) -> Tensor:
        # Without padding of ours, a model may still pad a text to its own block size: it has more rows than tokens.
        return self._all(len(self.rows)) if self.batch.query_mask(self.site) is None else super().row_mask

    def _all(self, length: int) -> Tensor:
        return self.batch.cached(_nothing_padded, self.weights.shape[0], length, self.weights.device)

    @property
    def key_sequences(self) -> Sequence[TokenSequence]:
        """For each text of the batch, the tokens that the keys stand for."""
        return self.batch.key_sequences(self.site)


def _nothing_padded(batch: Batch, texts: int, length: int, device: torch.device) -> Tensor:
    """One mask for all blocks of a batch: what follows from a mask is computed once, too."""
    return torch.ones(texts, length, dtype=torch.bool, device=device)


def repeat_groups(vectors: Tensor, heads: int) -> Tensor:
    """(batch, group, key, d) -> (batch, head, key, d): each key-value head serves heads / groups heads."""
    batch, groups, length, size = vectors.shape
    if groups == heads:
        return vectors
    return vectors[:, :, None].expand(batch, groups, heads // groups, length, size).reshape(batch, heads, length, size)
