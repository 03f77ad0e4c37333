"""Sections 4.1 to 4.3 and appendices A to D and G, out of the tables of one pass over the text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from headscope.later import pd
from headscope.lens.head import HEAD
from headscope.lens.lens import Lens
from headscope.papers.kobayashi2020 import drawings, facts, tables
from headscope.papers.kobayashi2020.categories import categories_of
from headscope.statistics.norms.category_weights import layer_means
from headscope.study import Run
from headscope.study.results.result import Result, paper_label
from headscope.study.results.workspace import Unsuitable
from headscope.study.singular_values import condition_numbers, singular_values
from headscope.study.tables import main_stack

_STARRED = f"Columns with * are the paper's, of {facts.MODEL}. Layers and heads count from 1 here, as there."
FROM_ONE = "Layers and heads count from 1, as in the paper; in the table they count from 0."


class Analysis:
    """The tables of a finished pass, and what the paper makes of them."""

    def __init__(self, counted: Run, by_length: Run, lens: Lens, given: Mapping[str, str], seed: int) -> None:
        self.counted, self.lens, self.seed = counted, lens, seed
        self.by_length = main_stack(by_length["effective_by_length"]).sort_values("length", ignore_index=True)
        self.heads = self.table("category_weights")
        self.categories = categories_of(lens, given, self.heads)
        self.layers = layer_means(self.heads)

    def table(self, name: str) -> pd.DataFrame:
        """A table of the model's own reading."""
        return main_stack(self.counted[name])

    @property
    def head_size(self) -> int:
        """Dimensions of a head; of the smallest, where they differ."""
        return min(site.head_size for site in self.lens.sites)

    @cached_property
    def singular(self) -> pd.DataFrame:
        """The singular values of f in every head."""
        found = singular_values(self.lens)
        if found.empty:
            raise Unsuitable("the values of this model are not made by a plain linear layer.")
        return main_stack(found)

    # Section 4.1 and appendix B: dispersion

    def table1(self) -> list[Result]:
        table = self.table("dispersion")
        shown = tables.dispersion(table, facts.TABLE1.frame, "Head")
        return [Result("kobayashi2020_table1", "Table 1: dispersion of ‖f(x)‖ in heads", table, shown, notes=[_STARRED])]

    def table4(self) -> list[Result]:
        table = self.table("input_dispersion")
        if table["cv"].isna().all():
            raise Unsuitable("the vectors that this model makes its values from could not be found.")
        shown = tables.dispersion(table, facts.TABLE4.frame, "Layer")
        notes = [f"x is what the values are made from: after the layer normalisation, where it stands before. {_STARRED}"]
        return [Result("kobayashi2020_table4", "Table 4: dispersion of ‖x‖ in layers", table, shown, notes=notes)]

    def figure9(self) -> list[Result]:
        """One head a layer, drawn by lot, as in the paper; the table has all."""
        lots = np.random.default_rng(self.seed)
        every = self.singular
        chosen = every[["layer", "head"]].drop_duplicates().groupby("layer")["head"].apply(lambda heads: lots.choice(heads))
        drawn = every[every["head"] == every["layer"].map(chosen)]
        condition = condition_numbers(drawn)
        heads = [paper_label(int(row["layer"]), int(row["head"])) for row in condition.to_dict("records")]
        numbers = {name: condition[name].to_numpy() for name in ("largest", "smallest", "condition")}
        shown = pd.DataFrame({"head": heads, **numbers})
        title = "Figure 9: singular values of f, in a head of each layer"
        notes = [
            "The heads are drawn by lot; layer-head, from 1. f is a linear map on d + 1 dimensions (appendix C). "
            f"In {facts.MODEL} the largest is at least {facts.SINGULAR_RATIO} times the smallest.",
            "One of the values is that of the added dimension: where values have no bias, it is 1 whatever f does.",
        ]
        picture = drawings.singular_values(drawn)
        return [Result("kobayashi2020_fig9", title, every, shown, picture, notes, of=[])]  # of the weights alone

    # Section 4.2: categories of tokens

    def figure3(self) -> list[Result]:
        panels = {"weight": f"Mean {drawings.WEIGHT}", "norm": f"Mean {drawings.NORM}"}
        picture = drawings.by_layer(self.layers, panels, self.categories)
        title = "Figure 3: what layers give to categories of tokens, by weight and by norm"
        notes = [f"LayerW and LayerWN of appendix D; printed as shares of a layer in percent. {FROM_ONE}"]
        by = {"by weight": ("weight", self.layers), "by norm": ("share_norm", self.layers)}
        shown = tables.shares_by_layer(by, self.categories)
        return [Result("kobayashi2020_fig3", title, self.layers, shown, picture, notes)]

    def table2(self) -> list[Result]:
        table = self.table("norm_correlation")
        shown = tables.weight_against_norm(table, self.categories)
        notes = [
            f"Columns with * are the paper's, of {facts.MODEL}. Pairs are single weights and the norms of their vectors, in "
            "all layers and heads. Rho of tokens takes each token's mean weight instead; the last is what appendix D says: "
            "a token's mean weight against its mean weighted norm ‖αf(x)‖, of which the weight itself is a part."
        ]
        title = "Table 2: Spearman's rho between α and ‖f(x)‖"
        return [Result("kobayashi2020_table2", title, table, shown, notes=notes)]

    def heat_map(self, number: int, name: str) -> list[Result]:
        """Figures 4 and 10 to 12."""
        label = next((category.label for category in self.categories if category.name == name), None)
        if label is None:
            raise Unsuitable(f"no token that this model reads is in the category {name!r}.")
        title = f"Figure {number}: α and ‖f(x)‖ of {_token(label)} in heads"
        return [self._heat_map(f"kobayashi2020_fig{number}", title, [name])]

    def own_categories(self) -> list[Result]:
        """The same for those that a user has named, in one figure."""
        own = [category.name for category in self.categories if category.own]
        title = "α and ‖f(x)‖ of your own categories in heads"
        return [self._heat_map("kobayashi2020_categories", title, own)] if own else []

    def _heat_map(self, name: str, title: str, of: list[str]) -> Result:
        columns = [f"{prefix}_{one}" for one in of for prefix in ("weight", "value_norm", "norm", "texts")]
        table = self.heads[[*HEAD, *columns]]
        here = [category for category in self.categories if category.name in of]
        picture = drawings.of_category(table, here)
        notes = [f"HeadW and HeadN of appendix D; printed are the heads with the largest α. {FROM_ONE}"]
        return Result(name, title, table, tables.heaviest_heads(table, here), picture, notes)

    def scatters(self) -> list[Result]:
        sample = self.table("norm_scatter")
        notes = [
            "Pairs drawn by lot, as many of each category where there are enough; the paper draws 1 % of each. Weights are "
            f"on a logarithmic scale, from 1e-8 on. Printed are the first ten. {FROM_ONE}"
        ]
        first = sample.head(10).assign(layer=sample["layer"] + 1, head=sample["head"] + 1)
        all_title, each_title = "Figure 5: α and ‖f(x)‖", "Figure 13: α and ‖f(x)‖ in each category"
        together, apart = (draw(sample, self.categories) for draw in (drawings.scatter, drawings.scatters))
        return [
            Result("kobayashi2020_fig5", all_title, sample, first, together, notes),
            Result("kobayashi2020_fig13", each_title, sample, first, apart, notes),
        ]

    # Section 4.3: frequency

    def frequency(self) -> list[Result]:
        curve = self.counted["frequency_curve"]
        notes = [
            "A point is the mean of the tokens in a bin of ranks, its line one deviation to both sides; rank 1 is the "
            "most frequent piece. AvgW and AvgN are means over all heads (appendix D.4)."
        ]
        return [
            Result(f"kobayashi2020_fig{number}", f"Figure {number}: frequency {by} against α and ‖f(x)‖", curve,
                   figure=drawings.frequency(curve, by), notes=notes)
            for number, by in ((14, "rank"), (15, "count"))
        ]  # fmt: skip

    # Appendices A and G, and beyond

    def figure25(self) -> list[Result]:
        notes = [
            "One correlation a head and text. A point is the mean of all of one length, its line one deviation. Texts are "
            "cut at lengths of their own: in those of more tokens than a head has dimensions "
            f"({self.head_size}, the line) a part of α must be without effect."
        ]
        title = "Figure 25: correlation of α with effective attention and with ‖αf(x)‖, by length"
        picture = drawings.by_length(self.by_length, self.head_size)
        return [Result("kobayashi2020_fig25", title, self.by_length, figure=picture, notes=notes, of=["lengths"])]

    def joint(self) -> list[Result]:
        together = self.table("category_weights_joint_norm")
        title = "Appendix A: shares of categories by weight, by the heads' norms and by the joint norm"
        picture = drawings.joint(self.layers, together, self.categories)
        shown = tables.shares_by_layer(
            {
                "by weight": ("weight", self.layers),
                "by norm": ("share_norm", self.layers),
                "by joint norm": ("share_norm", together),
            },
            self.categories,
        )
        table = tables.three_measures(self.layers, together, self.categories)
        return [Result("kobayashi2020_joint", title, table, shown, picture, [f"Printed are percents. {FROM_ONE}"])]

    def mixing(self) -> list[Result]:
        table = self.table("mixing")
        if table[list(drawings.MIXING)].isna().all(axis=None):
            if any(site.residual for site in self.lens.sites):
                raise Unsuitable("none of the few texts is among those that are measured; give more, or --set mixed=1.")
            raise Unsuitable("the residual connection around this model's attention could not be found.")
        title = "Beyond the paper: how much of a token's new vector comes from the others"
        notes = [
            "The mixing ratio of Kobayashi et al. (2021): the norm of what the other tokens give together, as a share of it "
            f"and of the norm of what the token itself gives. {FROM_ONE}"
        ]
        named = {column: label for column, (label, _) in drawings.MIXING.items()}
        shown = table[list(named)].rename(columns=named)
        shown.insert(0, "Layer", table["layer"] + 1)
        return [Result("kobayashi2020_mixing", title, table, shown, drawings.mixing(table), notes)]


def _token(label: str) -> str:
    """A token in a heading: Markdown would take </s> for a tag."""
    return f"`{label}`" if "<" in label else label
