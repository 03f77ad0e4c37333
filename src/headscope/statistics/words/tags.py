"""Which parts of speech a head looks at, and from which (vig2019, eq. 3); the same for dependency types (figure 9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headscope.later import Tensor, pd
from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Columns, Sums, ratio
from headscope.statistics.kit.annotations import label_masks
from headscope.statistics.registry import statistic
from headscope.statistics.surface.null_attention import NullFiltered


def by_label(amounts: Tensor, labels: Tensor) -> Tensor:
    """(batch, head, position), (batch, position, label) -> (label, head): sums over the positions that have a label.

    As one product of two matrices; einsum takes many times as long to find that out.
    """
    return labels.flatten(0, 1).T @ amounts.transpose(1, 2).flatten(0, 1)


@dataclass
class LabelShares(NullFiltered):
    """Shares of a head's attention by a label of its tokens. A token without one stays in the denominators.

    Labels are the source's: what attends in a translation, or is attended to in it, has none, and its share is not a number.
    """

    layer: ClassVar[str]  # of a document
    label: ClassVar[str]  # what the table calls one
    usual = False
    sums = ("total to", "total from")

    def update(self, block: ScoreBlock) -> None:
        names, keys = block.batch.cached(label_masks, block.attended, self.layer)
        row_names, queries = block.batch.cached(label_masks, block.attending, self.layer)
        to = by_label(self.received_in(block), keys[:, self.first_key :])
        origin = by_label(self.given_in(block), queries[:, block.rows.start : block.rows.stop])
        for end, side, of, amounts in (
            ("to", block.attended, names, to),
            ("from", block.attending, row_names, origin),
        ):
            if side.name == "source":
                self.add(block.site, **{f"{end} {name}": amount for name, amount in zip(of, amounts, strict=True)})
                self.add(block.site, **{f"total {end}": self.total_in(block)})
        if self.starts_batch(block):
            for name, count in zip(names, keys.sum((0, 1)), strict=True):
                self.add_at(f"tokens {name}", slice(0, 1), count, entries=1)
            self.add_at("tokens", slice(0, 1), block.key_mask.sum(), entries=1)

    @property
    def names(self) -> list[str]:
        """The labels met, sorted."""
        return sorted(name.removeprefix("tokens ") for name in self.state if name.startswith("tokens "))

    def labels(self) -> pd.DataFrame:
        """A row for each label and head."""
        heads = self.heads.labels()
        rows = pd.concat([heads] * len(self.names), ignore_index=True) if self.names else heads.iloc[:0]
        return rows.assign(**{self.label: np.repeat(self.names, len(heads))})

    def columns(self, sums: Sums) -> Columns:
        """`to` and `from`: shares of the attention; `corpus`: of the tokens."""
        corpus = [ratio(sums[f"tokens {name}"], sums["tokens"]) + np.zeros_like(sums["total to"]) for name in self.names]
        shares = {end: [ratio(sums[f"{end} {name}"], sums[f"total {end}"]) for name in self.names] for end in ("to", "from")}
        return {name: _side_by_side(columns) for name, columns in {**shares, "corpus": corpus}.items()}


def _side_by_side(columns: list[Array]) -> Array:
    return np.concatenate(columns, axis=-1) if columns else np.zeros(0)


@statistic("tags")
class Tags(LabelShares):
    """Share of a head's attention to and from every part of speech, beside its share of the tokens (vig2019, eq. 3)."""

    layer, label = "tags", "tag"
    needs = ("tags",)


@statistic("relation_types")
class RelationTypes(LabelShares):
    """Share of a head's attention to and from tokens by their relation to their head (vig2019, figure 9)."""

    layer, label = "relations", "relation"
    needs = ("relations",)
