"""How a translation model aligns one sentence pair: matrices of words by weight and by norm in every layer (figure 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headscope.alignment.linking import encode_pair
from headscope.alignment.tables import MEASURES
from headscope.errors import InputError
from headscope.later import Tensor, pd, torch
from headscope.lens.block import AttentionBlock
from headscope.lens.lens import Lens
from headscope.statistics.alignment.sides import NO_LINK, sides_of
from headscope.text import Document
from headscope.text.links import Links

SETTING = "AWI"  # of the figures
FEW, MANY, FITTING = 8, 14, 11  # words of a sentence that makes a good picture


@dataclass(frozen=True)
class Pairing:
    """One sentence pair: rows are the target's words, columns the source's and then tokens that mean 'no link'."""

    number: int  # line in the text, from 1
    rows: Sequence[str]
    columns: Sequence[str]
    gold: Links
    scores: dict[str, NDArray[np.float32]]  # by measure: (layer, row, column)
    chosen: dict[str, NDArray[np.int64]]  # by measure: (layer, row), the column of a row's highest score, or NO_LINK
    words: int  # how many of the columns are source words

    def is_link(self, measure: str, layer: int, row: int) -> bool:
        return 0 <= int(self.chosen[measure][layer, row]) < self.words

    def table(self, layer: int) -> pd.DataFrame:
        """One row for every pair of words of a layer."""
        rows, columns = (np.arange(len(side)) for side in (self.rows, self.columns))
        target, source = (grid.ravel() for grid in np.meshgrid(rows, columns, indexing="ij"))
        pairs = list(zip(source.tolist(), target.tolist(), strict=True))
        frame = pd.DataFrame({"sentence": self.number, "setting": SETTING, "layer": layer, "target": target})
        frame["source"] = pd.array(np.where(source < self.words, source, -1), dtype="Int64")
        frame.loc[source >= self.words, "source"] = pd.NA
        frame["target_word"] = [self.rows[row] for row in target.tolist()]
        frame["source_word"] = [self.columns[column] for column in source.tolist()]
        frame["sure"] = [pair in self.gold.sure for pair in pairs]
        frame["possible"] = [pair in self.gold.possible for pair in pairs]
        for measure in MEASURES:
            frame[measure] = self.scores[measure][layer].ravel()
            frame[f"{measure}_highest"] = self.chosen[measure][layer][target] == source
        return frame


def pairing(lens: Lens, document: Document, number: int = 1) -> Pairing:
    """Forced decoding of a document's target; the heads of a layer together, as for its error rate (section 5.1)."""
    batch = lens.encoder.collate([encode_pair(lens, document)])
    sides = batch.cached(sides_of)
    sums: dict[tuple[str, int], Tensor] = {}

    def receive(block: AttentionBlock) -> None:
        if block.site.kind != "cross":
            return
        for measure in MEASURES:
            part = sides.merged(block.scores(f"joint_{measure}"), SETTING, block.rows)[0, 0]
            key = (measure, block.site.layer)
            sums[key] = sums[key] + part if key in sums else part

    lens.run(batch, receive)
    layers = sorted({layer for _, layer in sums})
    source, target = batch.sources[0], document.target_words or []
    special = [token for token, other in zip(source.tokens, source.special, strict=True) if other]
    scores, chosen = {}, {}
    for measure in MEASURES:
        every = torch.stack([sums[measure, layer] for layer in layers])  # layer row column
        words = sides.choose(every[None])[0]
        scores[measure] = every.float().cpu().numpy()
        best = every.argmax(-1)
        # A row without a link has its highest score at a special token, and a word without pieces has no scores.
        special_is_best = (words == NO_LINK) & (best >= sides.source_count)
        chosen[measure] = torch.where(special_is_best, best, words).cpu().numpy()
    rows = list(target)[: scores["norm"].shape[1]]
    columns = [*list(document.words or [])[: sides.source_count], *special]
    return Pairing(number, rows, columns, document.alignment or Links(), scores, chosen, sides.source_count)


def examples(documents: Sequence[Document], numbers: Sequence[int]) -> list[tuple[int, Document]]:
    """The pairs of some lines, from 1; without numbers the first of 8 to 14 words on both sides, or the nearest to it."""
    for number in numbers:
        if not 1 <= number <= len(documents):
            raise InputError(f"There is no sentence {number}: --sentences counts the {len(documents)} pairs from 1.")
    if numbers:
        return [(number, documents[number - 1]) for number in numbers]

    def strangeness(index: int) -> int:
        sizes = [len(side or ()) for side in (documents[index].words, documents[index].target_words)]
        return sum(0 if FEW <= size <= MANY else abs(size - FITTING) for size in sizes)

    best = min(range(len(documents)), key=strangeness)
    return [(best + 1, documents[best])]
