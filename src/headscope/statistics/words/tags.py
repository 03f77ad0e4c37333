"""Which parts of speech a head looks at, and from which (vig2019, eq. 3); the same for dependency types (figure 9)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
import torch

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Fields, ratio
from headscope.statistics.kit.annotations import label_masks
from headscope.statistics.registry import statistic
from headscope.statistics.surface.null_attention import NullFiltered


class LabelShares(NullFiltered):
    """Shares of a head's attention by a label of its tokens. A token without one stays in the denominators."""

    layer: ClassVar[str]  # of a document
    column: ClassVar[str]  # what the table calls a label
    usual = False
    fields = ("total",)

    def update(self, block: ScoreBlock) -> None:
        self.add("total", block.site, self.kept_total(block))
        names, keys = block.batch.cached(label_masks, block.attended, self.layer)
        _, queries = block.batch.cached(label_masks, block.attending, self.layer)
        to = torch.einsum("bhk,bkl->lh", self.kept_received(block), keys[:, self.first_key :])
        rows = queries[:, block.rows.start : block.rows.stop]
        origin = torch.einsum("bhi,bil->lh", self.kept_given(block), rows)
        for name, amount in zip(names, to, strict=True):
            self.add(f"to {name}", block.site, amount)
        # The names of rows are those of keys in self attention; in cross attention only the source is annotated.
        for name, amount in zip(names, origin, strict=True):
            self.add(f"from {name}", block.site, amount)
        if block.is_first and block.site == self.heads.sites[0]:  # what the documents have, they have once
            self.add_array("tokens", np.array([float(block.key_mask.sum())]))
            for name, count in zip(names, keys.sum((0, 1)).tolist(), strict=True):
                self.add_array(f"tokens {name}", np.array([count]))

    @property
    def names(self) -> list[str]:
        """The labels met, sorted."""
        return sorted(name.removeprefix("tokens ") for name in self.state if name.startswith("tokens "))

    def labels(self) -> pd.DataFrame:
        """A row for each label and head."""
        heads = self.heads.labels()
        rows = pd.concat([heads] * len(self.names), ignore_index=True) if self.names else heads.iloc[:0]
        return rows.assign(**{self.column: np.repeat(self.names, len(heads))})

    def columns(self, fields: Fields) -> dict[str, Array]:
        """`to` and `from`: shares of the attention; `corpus`: of the tokens."""
        return {
            **{
                side: _side_by_side([ratio(fields[f"{side} {name}"], fields["total"]) for name in self.names])
                for side in ("to", "from")
            },
            "corpus": _side_by_side(
                [ratio(fields[f"tokens {name}"], fields["tokens"]) + np.zeros_like(fields["total"]) for name in self.names]
            ),
        }


def _side_by_side(columns: list[Array]) -> Array:
    return np.concatenate(columns, axis=-1) if columns else np.zeros(0)


@statistic
class Tags(LabelShares):
    """Share of a head's attention to and from every part of speech, beside its share of the tokens (vig2019, eq. 3)."""

    name = "tags"
    layer, column = "tags", "tag"
    needs = ("tags",)


@statistic
class RelationTypes(LabelShares):
    """Share of a head's attention to and from tokens by their relation to their head (vig2019, figure 9)."""

    name = "relation_types"
    layer, column = "relations", "relation"
    needs = ("relations",)
