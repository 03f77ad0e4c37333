"""Weight against norm by token category: HeadW, HeadN, HeadWN, LayerW, LayerWN (kobayashi2020, appendix D)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from headscope.later import Tensor, pd, torch
from headscope.lens.block import AttentionBlock
from headscope.measures.value_norm import value_norms_of
from headscope.statistics.base import Array, Columns, Sums, ratio
from headscope.statistics.columns import LENGTH, SHARE, Column
from headscope.statistics.kit.categories import CATEGORIES, key_categories
from headscope.statistics.kit.totals import received
from headscope.statistics.norms.norm_statistic import ByCategory
from headscope.statistics.registry import statistic

_ROW = ["stack", "kind", "layer"]
_COLUMNS = {
    "weight_": Column(
        "Weight on {}, share of all attention", SHARE, "The head's attention weight that goes to {}.", "looks there more"
    ),
    "share_norm_": Column(
        "Norm from {}, share of all that it adds",
        SHARE,
        "The part of what the head adds that comes from {}.",
        "takes more there",
    ),
    "value_norm_": Column("Length of f(x) of {}", LENGTH, "How long the vectors are that {} offer.", "they offer more"),
    "norm_": Column("Sum of norms from {}", LENGTH, "How much the head adds that comes from {}.", "takes more there"),
}


@statistic("category_weights")
class CategoryWeights(ByCategory):
    """Mean weight, ||f(x)|| and ||alpha f(x)|| of each token category, by head (kobayashi2020, appendix D).

    weight_NAME is HeadW and norm_NAME is HeadWN: a text's sum over the tokens of the category of their mean over rows,
    averaged over all texts. value_norm_NAME is HeadN: a text's mean of ||f(x)||, averaged over the texts that have the
    category. share_norm_NAME is the part of norm_NAME in all categories. With measure="joint_norm", norm_NAME and its
    share are those of all heads together (appendix A), one row a layer. `categories` adds categories of one's own.
    """

    measures = ("weight", "joint_norm")
    sums = ("texts",)

    @classmethod
    def column(cls, name: str) -> Column | None:
        kind = next((kind for kind in _COLUMNS if name.startswith(kind)), None)
        if kind is None:
            return None
        said = _COLUMNS[kind]
        label = CATEGORIES.get(name.removeprefix(kind), name.removeprefix(kind))
        return replace(said, title=said.title.format(label), says=said.says.format(label))

    def update(self, block: AttentionBlock) -> None:
        members = self._members(block)
        first, norms = block.is_first, block.site.has_norms
        if first:
            self.add(block.site, texts=float(len(members)))
            self._add(block, "texts", members.any(1).double()[:, None])
        if self.measure == "joint_norm":
            if norms:
                self._add_received(block, "norm", block.cached(received, "joint_norm"), members)
            return
        weights = block.cached(received, "weight")
        self._add_received(block, "weight", weights, members)
        if norms and block.site.gated:  # each row has an ||f(x)|| of its own
            self._add_received(block, "norm", block.cached(received, "norm"), members)
        elif norms:  # all rows multiply the same ||f(x)||, so their sum does too
            value_norms = block.key_side.cached(value_norms_of)
            self._add_received(block, "norm", weights * value_norms, members)
            if first:
                # Means over the keys of a category; 0 for a text that does not have it.
                self._add(block, "value_norm", value_norms @ members / members.sum(1).clamp(min=1)[:, None])

    def _members(self, block: AttentionBlock) -> Tensor:
        """(batch, key, category): 1 where a key is in a category, and 0 at padding."""
        found = torch.nn.functional.one_hot(key_categories(block, self.categories), len(self.names))
        return found.to(block.weights.dtype) * block.key_mask[..., None]

    def _add_received(self, block: AttentionBlock, kind: str, of_keys: Tensor, members: Tensor) -> None:
        """What keys get from this block's rows, as part of the mean over all the rows of their text."""
        self._add(block, kind, of_keys @ members / block.query_lengths[:, None, None])

    def _add(self, block: AttentionBlock, kind: str, amounts: Tensor) -> None:
        """(batch, head, category), summed over texts into a sum for each category."""
        by_category = zip(self.names, amounts.double().sum(0).unbind(-1), strict=True)
        self.add(block.site, **{f"{kind}_{name}": amount for name, amount in by_category})

    def columns(self, sums: Sums) -> Columns:
        nothing = np.zeros_like(sums["texts"])

        def mean(kind: str, name: str, texts: str = "texts") -> Array:
            found = ratio(sums.get(f"{kind}_{name}", nothing), sums.get(texts, nothing))
            return found if kind == "weight" else np.where(self.has_norms(of_keys=kind == "value_norm"), found, np.nan)

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
