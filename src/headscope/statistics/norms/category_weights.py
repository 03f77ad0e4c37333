"""Weight against norm by token category: HeadW, HeadN, HeadWN, LayerW, LayerWN (kobayashi2020, appendix D)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from headscope.lens.block import AttentionBlock
from headscope.measures.value_norm import value_norms_of
from headscope.statistics.base import Array, Fields, ratio
from headscope.statistics.kit.categories import category_names, key_categories, parse_categories
from headscope.statistics.kit.totals import received
from headscope.statistics.norms.norm_statistic import NormStatistic
from headscope.statistics.registry import statistic

_ROW = ["stack", "kind", "layer"]


def category_sums(of_keys: Tensor, members: Tensor) -> Tensor:
    """(batch, head, key), (batch, key, category) of 0 and 1 -> sums over the keys of a category: (batch, head, category)."""
    return of_keys @ members


def category_means(of_keys: Tensor, members: Tensor) -> Tensor:
    """The same, as means; 0 for a text that does not have the category."""
    return category_sums(of_keys, members) / members.sum(1).clamp(min=1)[:, None]


@statistic
class CategoryWeights(NormStatistic):
    """Mean weight, ||f(x)|| and ||alpha f(x)|| of each token category, by head (kobayashi2020, appendix D).

    weight_NAME is HeadW and norm_NAME is HeadWN: a text's sum over the tokens of the category of their mean over rows,
    averaged over all texts. value_norm_NAME is HeadN: a text's mean of ||f(x)||, averaged over the texts that have the
    category. share_norm_NAME is the part of norm_NAME in all categories. With measure="joint_norm", norm_NAME and its
    share are those of all heads together (appendix A), one row a layer. `categories` adds categories of one's own.
    """

    name = "category_weights"
    measures = ("weight", "joint_norm")
    fields = ("texts",)

    def __init__(self, measure: str = "weight", level: str = "token", categories: Mapping[str, str] | None = None) -> None:
        super().__init__(measure, level)
        self.categories = parse_categories(categories or {})

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "categories": self.categories}

    @property
    def names(self) -> tuple[str, ...]:
        return category_names(self.categories)

    def update(self, block: AttentionBlock) -> None:
        members = self._members(block)
        first, norms = block.is_first, block.site.projection is not None
        if first:
            self.add("texts", block.site, float(len(members)))
            self._add(block, "texts", members.any(1).double()[:, None])
        if self.measure == "joint_norm":
            if norms:
                self._add_received(block, "norm", block.cached(received, "joint_norm"), members)
            return
        weights = block.cached(received, "weight")
        self._add_received(block, "weight", weights, members)
        if norms:  # all rows multiply the same ||f(x)||, so their sum does too
            value_norms = block.key_side.cached(value_norms_of)
            self._add_received(block, "norm", weights * value_norms, members)
            if first:
                self._add(block, "value_norm", category_means(value_norms, members))

    def _members(self, block: AttentionBlock) -> Tensor:
        """(batch, key, category): 1 where a key is in a category, and 0 at padding."""
        found = torch.nn.functional.one_hot(key_categories(block, self.categories), len(self.names))
        return found.to(block.weights.dtype) * block.key_mask[..., None]

    def _add_received(self, block: AttentionBlock, field: str, of_keys: Tensor, members: Tensor) -> None:
        """What keys get from this block's rows, as part of the mean over all the rows of their text."""
        self._add(block, field, category_sums(of_keys, members) / block.query_lengths[:, None, None])

    def _add(self, block: AttentionBlock, field: str, amounts: Tensor) -> None:
        """(batch, head, category), summed over texts into a field for each category."""
        for name, amount in zip(self.names, amounts.double().sum(0).unbind(-1), strict=True):
            self.add(f"{field}_{name}", block.site, amount)

    def columns(self, fields: Fields) -> dict[str, Array]:
        nothing = np.zeros_like(fields["texts"])

        def mean(field: str, name: str, texts: str = "texts") -> Array:
            found = ratio(fields.get(f"{field}_{name}", nothing), fields.get(texts, nothing))
            return found if field == "weight" else np.where(self.has_norms(), found, np.nan)

        columns = {f"norm_{name}": mean("norm", name) for name in self.names}
        columns |= shares(columns)
        if self.measure == "joint_norm":
            return columns
        weights = {f"weight_{name}": mean("weight", name) for name in self.names}
        return weights | {f"value_norm_{name}": mean("value_norm", name, f"texts_{name}") for name in self.names} | columns

    def table(self) -> pd.DataFrame:
        """With how many texts there are, and how many have each category: counts, without confidence intervals."""
        names = ["texts", *(f"texts_{name}" for name in self.names)]
        return super().table().assign(**{name: self.state.get(name, np.zeros(self.heads.count)) for name in names})


def shares(norms: Mapping[str, Array]) -> dict[str, Array]:
    """`norm_NAME` of all categories -> `share_norm_NAME`, the part of each in their sum."""
    whole = np.sum(list(norms.values()), axis=0)
    return {f"share_{name}": ratio(norm, whole) for name, norm in norms.items()}


def layer_means(table: pd.DataFrame) -> pd.DataFrame:
    """LayerW and LayerWN: the table of `category_weights` with the heads of a layer averaged; shares are of these means."""
    intervals = {f"{name}_{end}" for name in table for end in ("low", "high")}
    columns = [name for name in table if name not in (*_ROW, "head", *intervals)]
    means = table.groupby(_ROW, sort=False, as_index=False)[columns].mean()
    norms = {name: means[name].to_numpy() for name in columns if name.startswith("norm_")}
    return means.assign(**shares(norms))
