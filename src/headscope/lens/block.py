"""AttentionBlock: one attention site, one block of query rows, one batch. What streams out of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from headscope.errors import NormsUnavailable
from headscope.lens.measure import MEASURES
from headscope.lens.site import Site
from headscope.lens.watching.projection import Projection
from headscope.lens.watching.residual import ResidualConnection

if TYPE_CHECKING:
    from headscope.lens.tokens.batch import Batch
    from headscope.lens.tokens.encoding import TokenSequence


class KeySide:
    """What a site's blocks of one batch share: keys, values, and what is derived from them once.

    Grouped heads: `key_values` and `keys` have one entry per key-value head; `values` repeats them.
    """

    def __init__(
        self,
        site: Site,
        key_values: Tensor,
        keys: Tensor | None,
        mask: Tensor | None,
        projection: Projection | None,
        inputs: Tensor | None = None,
    ) -> None:
        self.site = site
        self.key_values = key_values  # batch group key d_head
        self.keys = keys  # batch group key d_head, after rotary positions
        self.mask = mask  # batch key, False at padding; None without padding
        self.inputs = inputs  # batch key d_model: the x that values are made from; None where it is not known
        self._projection = projection
        self._derived: dict[str, Tensor] = {}

    @property
    def projection(self) -> Projection:
        if self._projection is None:
            raise NormsUnavailable(
                f"{self.site.name}: only weights can be read here, because {self.site.why_no_norms}; "
                "use the measure 'weight'."
            )
        return self._projection

    @property
    def values(self) -> Tensor:
        """Value vectors, one per head: (batch, head, key, d_head), float32."""
        return self.once("values", lambda: repeat_groups(self.key_values.float(), self.site.heads))

    def once(self, name: str, compute: Callable[[], Tensor]) -> Tensor:
        """The derived quantity `name`, computed at the first call for this site and batch."""
        if name not in self._derived:
            self._derived[name] = compute()
        return self._derived[name]


@dataclass(frozen=True)
class ResidualRows:
    """How a block's rows join the residual stream: what the heads bring, and what it is added to."""

    surroundings: ResidualConnection
    output: Tensor  # batch row head d_head: the attention's output, before W_O
    residual: Tensor  # batch row d_model


class AttentionBlock:
    """Query rows `rows` of one site for one batch: the weights, and access to everything they multiply.

    Scores are zero wherever the query or the key is padding, so that sums over a block need no mask.
    """

    level = "token"

    def __init__(
        self,
        site: Site,
        rows: range,
        weights: Tensor,
        queries: Tensor | None,
        key_side: KeySide,
        batch: Batch,
        joining: ResidualRows | None = None,
    ) -> None:
        self.site = site
        self.rows = rows
        self.weights = weights  # batch head row key, float32
        self.queries = queries  # batch head row d_head, after rotary positions
        self.key_side = key_side
        self.batch = batch
        self._joining = joining
        self._scores: dict[str, Tensor] = {}
        self._derived: dict[str, Tensor] = {}

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
                f"{self.site.name}: what the model adds its output to was not found (a parallel layer, a scaled sum), so "
                "nothing can be said of the residual connection; use the measure 'joint_norm'."
            )
        return self._joining

    @property
    def row_positions(self) -> Tensor:
        """Position of each query row in its text: (row,)"""
        return torch.arange(self.rows.start, self.rows.stop, device=self.weights.device)

    @property
    def key_positions(self) -> Tensor:
        """(key,)"""
        return torch.arange(self.weights.shape[-1], device=self.weights.device)

    @property
    def row_mask(self) -> Tensor:
        """(batch, row), False at padding."""
        mask = self.batch.query_mask(self.site)
        if mask is None:
            return self.weights.new_ones((self.weights.shape[0], len(self.rows)), dtype=torch.bool)
        return mask[:, self.rows.start : self.rows.stop]

    @property
    def key_mask(self) -> Tensor:
        """(batch, key), False at padding."""
        mask = self.key_side.mask
        if mask is None:
            return self.weights.new_ones((self.weights.shape[0], self.weights.shape[-1]), dtype=torch.bool)
        return mask

    @property
    def query_lengths(self) -> Tensor:
        """How many rows each text has in all of a site's blocks together: (batch,)"""
        mask = self.batch.query_mask(self.site)
        if mask is None:
            return torch.full((self.weights.shape[0],), self.batch.query_length(self.site), device=self.weights.device)
        return mask.sum(1)

    @property
    def query_sequences(self) -> Sequence[TokenSequence]:
        """For each text of the batch, the tokens that the rows stand for."""
        return self.batch.query_sequences(self.site)

    @property
    def key_sequences(self) -> Sequence[TokenSequence]:
        """For each text of the batch, the tokens that the keys stand for."""
        return self.batch.key_sequences(self.site)

    @property
    def key_labels(self) -> list[list[str]]:
        """For each text, the tokens attended to."""
        return [list(sequence.tokens) for sequence in self.key_sequences]

    @property
    def key_special(self) -> list[list[bool]]:
        """For each text, which of the tokens attended to are special."""
        return [list(sequence.special) for sequence in self.key_sequences]

    @property
    def query_labels(self) -> list[list[str]]:
        """For each text, the tokens that attend (of all rows, not only this block's)."""
        return [list(sequence.tokens) for sequence in self.query_sequences]

    @property
    def query_special(self) -> list[list[bool]]:
        """For each text, which of the tokens that attend are special."""
        return [list(sequence.special) for sequence in self.query_sequences]

    @property
    def key_words(self) -> list[list[int | None]]:
        """For each text and key, which of its document's words it belongs to; None for a special token."""
        return [sequence.word_of for sequence in self.key_sequences]

    @property
    def query_words(self) -> list[list[int | None]]:
        """For each text and query (of all rows, not only this block's), which of its document's words it belongs to."""
        return [sequence.word_of for sequence in self.query_sequences]

    @property
    def key_side_name(self) -> str:
        """`source` or `target`: blocks of one batch with the same name have the same keys."""
        return "target" if self.key_sequences is self.batch.targets else "source"

    @property
    def query_side_name(self) -> str:
        """`source` or `target`, likewise for the rows."""
        return "target" if self.query_sequences is self.batch.targets else "source"

    def once(self, name: str, compute: Callable[[], Tensor]) -> Tensor:
        """The derived quantity `name`, computed at the first call for this block."""
        if name not in self._derived:
            self._derived[name] = compute()
        return self._derived[name]

    def scores(self, measure: str = "weight") -> Tensor:
        """The measure `measure` for every pair: (batch, head, row, key); one head for joint measures."""
        if measure not in self._scores:
            self._scores[measure] = MEASURES[measure](self)
        return self._scores[measure]


def repeat_groups(vectors: Tensor, heads: int) -> Tensor:
    """(batch, group, key, d) -> (batch, head, key, d): each key-value head serves heads / groups heads."""
    batch, groups, length, size = vectors.shape
    if groups == heads:
        return vectors
    return vectors[:, :, None].expand(batch, groups, heads // groups, length, size).reshape(batch, heads, length, size)
