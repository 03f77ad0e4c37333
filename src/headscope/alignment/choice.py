"""Which single layer or head the links are taken from: a named one, the best on gold links, or the paper's own rule."""

from __future__ import annotations

from dataclasses import dataclass

from headscope.alignment.aligner import row_shares
from headscope.alignment.word_maps import read_word_maps
from headscope.errors import InputError
from headscope.later import Tensor, nn, pd
from headscope.lens.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.statistics.alignment.sides import NO_LINK, Sides


@dataclass(frozen=True)
class Choice:
    """One attention, or the heads of a layer together where `head` is None."""

    layer: int
    head: int | None = None
    measure: str = "norm"  # weight or norm
    setting: str = "AWI"
    why: str = "named"

    @property
    def scores(self) -> str:
        """The name of the measure that is read: the layer's heads together have their own."""
        return self.measure if self.head is not None else f"joint_{self.measure}"

    @property
    def label(self) -> str:
        """
        >>> Choice(1, 7, "weight").label, Choice(2).label
        ('head 1.7 by weight, AWI', 'layer 2 by norm, AWI')
        """
        place = f"layer {self.layer}" if self.head is None else f"head {self.layer}.{self.head}"
        return f"{place} by {self.measure}, {self.setting}"

    @property
    def places(self) -> tuple[tuple[int, int | None]]:
        return ((self.layer, self.head),)

    def word_scores(self, lens: Lens, batch: Batch) -> Tensor:
        """(batch, target word, column), by cross attention, or by a decoder's self attention."""
        found: list[Tensor] = []
        wanted = {(self.layer, self.setting): [self.head or 0]}
        read_word_maps(lens, batch, self.scores, wanted, lambda _, merged: found.append(merged[:, 0]))
        return found[0]

    def links(self, scores: Tensor, sides: Sides) -> Tensor:
        """Every target word's best source word, or none."""
        best = sides.choose(scores[:, None])[:, 0]
        return nn.functional.one_hot(best - NO_LINK, sides.source_count + 1)[..., 1:].bool()

    def strengths(self, scores: Tensor, sides: Sides) -> Tensor:
        return row_shares(scores)[..., : sides.source_count]

    def shares(self, scores: Tensor) -> Tensor:
        return row_shares(scores)


def highest_norm(means: pd.DataFrame, *, heads: bool, measure: str = "norm", setting: str = "AWI") -> Choice:
    """The layer (or head) with the highest average norm: no gold links are needed (kobayashi2020, section 5.2).

    `means` has layer, head and mean_score of the cross attention by norm; a layer's is the sum of its heads' (footnote 15).
    """
    if heads:
        best = means.loc[means["mean_score"].idxmax()]
        return Choice(int(best["layer"]), int(best["head"]), measure, setting, "the head with the highest average norm")
    by_layer = means.groupby("layer")["mean_score"].sum()
    return Choice(int(by_layer.idxmax()), None, measure, setting, "the layer with the highest average norm")


def lowest_aer(table: pd.DataFrame, *, column: str = "aer") -> Choice:
    """The row with the lowest error rate of a table with setting, measure, layer, head (none for whole layers)."""
    if table[column].isna().all():
        raise InputError("No layer or head can be chosen by its error rate: there are no sure gold links.")
    best = table.loc[table[column].idxmin()]
    head = None if pd.isna(best["head"]) else int(best["head"])
    return Choice(int(best["layer"]), head, str(best["measure"]), str(best["setting"]), "the lowest AER on the tuning half")
