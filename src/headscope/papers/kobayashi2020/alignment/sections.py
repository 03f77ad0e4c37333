"""Section 5 and appendices E and F: word alignments out of a translation model, and how good they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from headscope.later import pd, stats
from headscope.lens.lens import Lens
from headscope.papers.kobayashi2020 import facts
from headscope.papers.kobayashi2020.alignment import drawings, tables
from headscope.papers.kobayashi2020.alignment.aligners import Aligner
from headscope.papers.kobayashi2020.alignment.matrices import Pairing, examples, pairing
from headscope.papers.kobayashi2020.sections import FROM_ONE
from headscope.study.results.result import Result, in_percent
from headscope.text import Document
from headscope.text.cut import half_of

_FRAMES = (
    "A row is a target word that the decoder reads (AWI). The frame is around its highest score: green where the reference "
    "has the link, red where it has not, grey at a special token, which is no link. Light links of the reference are "
    "possible, not sure. Colours begin at 0 and end at the largest score of each matrix."
)


class Alignments:
    """What the paper makes of one or more aligners; figures 7, 8 and 17 to 23 are of the first."""

    def __init__(self, aligners: Sequence[Aligner], lens: Lens, pairs: Iterable[Document], sentences: Sequence[int]) -> None:
        self.aligners, self.lens = aligners, lens
        self.documents = list(pairs)
        self.examples = examples(self.documents, sentences)

    @cached_property
    def methods(self) -> pd.DataFrame:
        """Table 3 for each model."""
        halves = len({half_of(document) for document in self.documents}) == 2
        made = [(one.name, tables.methods(one.layers, one.heads, one.norms, halves=halves)) for one in self.aligners]
        return tables.joined(made)

    @cached_property
    def layers(self) -> pd.DataFrame:
        return tables.joined([(one.name, one.layers) for one in self.aligners])

    @cached_property
    def heads(self) -> pd.DataFrame:
        """The first model's heads: AER by norm in both settings, and the average norm."""
        by_norm = self.aligners[0].heads[self.aligners[0].heads["measure"] == "norm"]
        wide = by_norm.pivot(index=["layer", "head"], columns="setting", values="aer").add_prefix("aer_").reset_index()
        norms = self.aligners[0].norms[["layer", "head", "mean_score"]].rename(columns={"mean_score": "mean_norm"})
        return wide.rename_axis(columns=None).merge(norms, on=["layer", "head"])

    @cached_property
    def correlations(self) -> pd.DataFrame:
        """Of heads' average norms and error rates: setting, spearman, pearson (section 5.3)."""
        rows = [
            {"setting": setting, **correlation(self.heads["mean_norm"], self.heads[f"aer_{setting}"])}
            for setting in ("AWI", "AWO")
        ]
        return pd.DataFrame(rows)

    @cached_property
    def pairings(self) -> list[Pairing]:
        return [pairing(self.lens, document, number) for number, document in self.examples]

    @property
    def best_layer(self) -> int:
        """Of the first model, by norm with the input word."""
        return int(self.way("AWI", "norm", tables.BEST_LAYER).iloc[0]["layer"])

    def way(self, setting: str, measure: str, which: str) -> pd.DataFrame:
        """The rows of a method in table 3, one a model."""
        table = self.methods
        return table[(table["setting"] == setting) & (table["measure"] == measure) & (table["which"] == which)]

    def table3(self) -> list[Result]:
        others = tables.joined([(one.name, one.others) for one in self.aligners if len(one.others)])
        table = pd.concat([self.methods, others.rename(columns={"system": "which"})]) if len(others) else self.methods
        notes = [
            "AER in %. Columns with * are the paper's, of German-English with 4 heads (table 3) and 8 heads (table 6): "
            "means of five seeds. Best is the best of all pairs, as there; beside it stands what is best on one half of the "
            f"pairs, and its error rate on the other half. {FROM_ONE}"
        ]
        if len(self.aligners) > 1:
            notes.append(f"Means of {len(self.aligners)} models; SD is the deviation of the population.")
        title = "Tables 3 and 6: alignment error rates"
        shown = tables.shown(self.methods, others)
        return [Result("kobayashi2020_table3", title, table.reset_index(drop=True), shown, notes=notes)]

    def figure16(self) -> list[Result]:
        mean = self.layers.groupby(["setting", "measure", "layer"], as_index=False)["aer"].mean()
        printed = mean.pivot(index=["setting", "measure"], columns="layer", values="aer").sort_index(ascending=False)
        shown = printed.map(in_percent).rename(columns=lambda layer: str(layer + 1)).reset_index().rename_axis(columns=None)
        notes = [f"AER in percent, the heads of a layer together; the lighter, the better. {FROM_ONE}"]
        if len(self.aligners) > 1:
            notes.append(f"Means of {len(self.aligners)} models.")
        title = "Figures 16 and 24: alignment error rates of layers"
        picture = drawings.by_layer(self.layers)
        return [Result("kobayashi2020_fig16", title, self.layers, shown, picture, notes, models=self.models)]

    def lines(self) -> list[Result]:
        """Beyond the paper: figure 16 as lines."""
        wide = self.layers.groupby(["setting", "layer", "measure"])["aer"].mean().unstack()
        better, of = int((wide["norm"] < wide["weight"]).sum()), len(wide)
        only = "only " if 2 * better <= of else ""
        headline = f"Words align better by norm than by weight in {only}{better} of {of} cases"
        title = "Beyond the paper: error rates of layers by weight and by norm"
        picture = drawings.lines(self.layers, headline)
        notes = [f"A case is one layer in one setting. The bands are 95 % intervals of one model. {FROM_ONE}"]
        shown = self.layers.assign(layer=self.layers["layer"] + 1)
        return [Result("kobayashi2020_aer", title, self.layers, shown, picture, notes, models=self.models)]

    @property
    def models(self) -> str:
        """Whose numbers are means, where they are those of several."""
        others = len(self.aligners) - 1
        return f"{self.lens.name} and {others} more (means)" if others else ""

    def figure8(self) -> list[Result]:
        shown = self.correlations.merge(facts.NORM_AND_AER.frame, on="setting").rename(columns=_CORRELATIONS)
        told = "; ".join(
            f"{row['setting']} Spearman {row['spearman']:.2f}, Pearson {row['pearson']:.2f}"
            for row in self.correlations.to_dict("records")
        )
        notes = [
            f"Correlation of heads' average norm and AER: {told}. Printed are these, and the paper's with *. The darker, "
            f"the worse the alignment, and the larger the norm. {FROM_ONE}"
        ]
        title = "Figures 8 and 23: alignment error rates and average norms of heads"
        return [Result("kobayashi2020_fig8", title, self.heads, shown, drawings.by_head(self.heads), notes)]

    def figure7(self) -> list[Result]:
        layer = self.best_layer
        title = f"Figure 7: alignments in layer {layer + 1}, the best"
        return [self._matrices("kobayashi2020_fig7", title, layer, _FRAMES)]

    def figures17(self) -> list[Result]:
        """One a layer; the paper's model has six, and further ones have no number there."""
        made = []
        for layer in range(len(self.pairings[0].scores["norm"])):
            name, title = f"fig{17 + layer}", f"Figure {17 + layer}: alignments in layer {layer + 1}"
            if layer >= _PAPERS_LAYERS:
                name, title = f"alignments_layer{layer + 1}", f"Alignments in layer {layer + 1}"
            made.append(self._matrices(f"kobayashi2020_{name}", title, layer, "Figure 7 says what the frames are."))
        return made

    def _matrices(self, name: str, title: str, layer: int, frames: str) -> Result:
        table = pd.concat([one.table(layer) for one in self.pairings], ignore_index=True)
        numbers = ", ".join(str(one.number) for one in self.pairings)
        notes = [f"Sentence {numbers} of the parallel text. {frames}"]
        told = table["weight_highest"] | table["norm_highest"] | table["possible"]
        links = table[told].drop(columns=["target", "source"])
        return Result(name, title, table, links, drawings.matrices(self.pairings, layer), notes)


_PAPERS_LAYERS = 6
_CORRELATIONS = {
    "setting": "Setting",
    "spearman": "Spearman's rho",
    "pearson": "Pearson's r",
    "spearman_4": "rho*, 4 heads",
    "pearson_4": "r*, 4 heads",
    "spearman_8": "rho*, 8 heads",
    "pearson_8": "r*, 8 heads",
}


def correlation(one: pd.Series, other: pd.Series) -> dict[str, Any]:
    """Spearman's rho and Pearson's r; not a number where one of the two does not vary."""
    if len(one) < 3 or one.nunique() < 2 or other.nunique() < 2:
        return {"spearman": float("nan"), "pearson": float("nan")}
    return {"spearman": float(stats.spearmanr(one, other).statistic), "pearson": float(stats.pearsonr(one, other).statistic)}
