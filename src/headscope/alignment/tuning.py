"""Weights of heads from a few gold links: ridge regression, its penalty chosen by leaving out one sentence at a time.

With x_h = sqrt(a b) of two words by head h (`link_shares`), y = 1 for a sure link and 0 for no link (links that are only
possible are left out), the weights minimise

    sum (y - w0 - w . x)^2 + penalty * |w|^2

over all pairs of words of the tuned sentences. The penalty is the one with the lowest squared error on sentences that were
left out; the error rate of links on these sentences is said, and is not what was minimised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headscope.alignment.head_set import Reader, by_place
from headscope.alignment.linking import encode_pair, in_batches
from headscope.alignment.tuned_heads import LINK, TunedHeads
from headscope.alignment.word_maps import Place, read_word_maps
from headscope.errors import InputError
from headscope.later import Tensor, pd, torch
from headscope.lens.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoder import BY_WORD, Encoding
from headscope.statistics.alignment.alignment_errors import aligning_sites
from headscope.statistics.alignment.scores import scores
from headscope.statistics.alignment.sides import SETTINGS, sides_of
from headscope.statistics.alignment.two_ways import link_shares
from headscope.statistics.kit.resampling import Array
from headscope.text import Document
from headscope.text.links import Links

PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


@dataclass(frozen=True)
class Sentence:
    """One tuned pair: its features (word pair, head), which word pairs are sure links, and which are no links."""

    features: Array
    sure: Array
    possible: Array  # sure ones too

    @classmethod
    def of(cls, shares: Array, gold: Links) -> Sentence:
        """shares: (head, target word, source word)"""
        sure, possible = (np.zeros(shares.shape[1:], bool) for _ in range(2))
        for matrix, links in ((sure, gold.sure), (possible, gold.possible)):
            for source, target in links:
                matrix[target, source] = True
        return cls(shares.reshape(len(shares), -1).T.astype(np.float64), sure.ravel(), possible.ravel())

    @property
    def told(self) -> Array:
        """The word pairs that the regression is told of: what is sure, and what is not even possible."""
        told: Array = self.sure | ~self.possible
        return told

    def sums(self) -> tuple[Array, Array]:
        """X'X and X'y of what is told, a column of ones last: all that the regression needs of a sentence."""
        told = self.with_ones()[self.told]
        return told.T @ told, told.T @ self.sure[self.told]

    def with_ones(self) -> Array:
        return np.column_stack([self.features, np.ones(len(self.features))])

    def counts(self, predicted: Array) -> Array:
        """found, in sure, in possible, sure: of the links that are predicted."""
        found = predicted > LINK
        return np.array([found.sum(), (found & self.sure).sum(), (found & self.possible).sum(), self.sure.sum()])


def ridge(squares: Array, products: Array, penalty: float) -> Array:
    """(X'X + penalty)^-1 X'y, the last column being ones, whose weight is not held down: (feature,)"""
    held = np.diag([*[penalty] * (len(squares) - 1), 0.0])
    weights: Array = np.linalg.solve(squares + held, products)
    return weights


class Tuning(NamedTuple):
    """What tuning has come to."""

    heads: TunedHeads
    penalties: pd.DataFrame  # penalty, squared_error, aer, chosen: on pairs that were left out in turn
    counts: Array  # (pair, 4) of the chosen penalty, each pair left out: found, in sure, in possible, sure


def left_out(sentences: Sequence[Sentence], penalties: Sequence[float] = PENALTIES) -> tuple[pd.DataFrame, Array]:
    """What each penalty comes to on sentences that were left out, one at a time.

    penalty, squared_error, aer; and counts (penalty, sentence, 4).
    """
    squares, products = (np.stack(sums) for sums in zip(*(one.sums() for one in sentences), strict=True))
    rows, counts = [], np.zeros((len(penalties), len(sentences), 4))
    for row, penalty in enumerate(penalties):
        errors, told = 0.0, 0
        for place, one in enumerate(sentences):
            weights = ridge(squares.sum(0) - squares[place], products.sum(0) - products[place], penalty)
            predicted = one.with_ones() @ weights
            counts[row, place] = one.counts(predicted)
            errors += float(((predicted - one.sure)[one.told] ** 2).sum())
            told += int(one.told.sum())
        rows.append({"penalty": penalty, "squared_error": errors / told, "aer": float(scores(counts[row].sum(0)).aer)})
    return pd.DataFrame(rows), counts


def tune(
    lens: Lens,
    documents: Sequence[Document],
    *,
    measure: str = "norm",
    setting: str | None = None,
    encoding: Encoding = BY_WORD,
    batch_size: int = 16,
) -> Tuning:
    """Weights of every head in both settings (or one), from documents with gold links."""
    check_tuned(documents)
    sites = aligning_sites(lens.sites)
    settings = SETTINGS if setting is None else (setting,)
    readers = [Reader(site.layer, head, one) for one in settings for site in sites for head in range(site.heads)]
    encoded = [encode_pair(lens, document, encoding) for document in documents]
    found = in_batches(lens, encoded, lambda batch: features_of(lens, batch, readers, measure), batch_size)
    sentences = [Sentence.of(shares, one.alignment or Links()) for shares, one in zip(found, documents, strict=True)]
    table, counts = left_out(sentences)
    chosen = int(table["squared_error"].to_numpy().argmin())
    table["chosen"] = table.index == chosen
    best = table.iloc[chosen]
    squares, products = (sum(sums) for sums in zip(*(one.sums() for one in sentences), strict=True))
    *weights, intercept = ridge(np.asarray(squares), np.asarray(products), float(best["penalty"])).tolist()
    why = (
        f"ridge regression on the gold links of {len(documents)} pairs, penalty {best['penalty']:g}: "
        f"AER {100 * best['aer']:.1f} on them, each left out in turn"
    )
    return Tuning(TunedHeads(tuple(readers), tuple(weights), intercept, measure, why), table, counts[chosen])


def check_tuned(documents: Sequence[Document]) -> None:
    """Enough gold links to learn from and to leave out."""
    if len(documents) < 2:
        raise InputError("Tuning leaves out one sentence pair at a time: give gold links of at least two pairs, better ten.")
    if not any(document.alignment is not None and document.alignment.sure for document in documents):
        raise InputError("The pairs to tune on have no sure gold links (`3-4`, not `3p4`): there is nothing to learn from.")


def features_of(lens: Lens, batch: Batch, readers: Sequence[Reader], measure: str) -> list[Array]:
    """sqrt(a b) by every head, of each text of a batch: (head, target word, source word), words without a token 0."""
    sides, wanted = batch.cached(sides_of), by_place(readers)
    found: dict[Place, Tensor] = {}

    def receive(place: Place, merged: Tensor) -> None:
        found[place] = link_shares(merged, sides.source_count)

    read_word_maps(lens, batch, measure, wanted, receive)
    by_reader = [found[one.layer, one.setting][:, wanted[one.layer, one.setting].index(one.head)] for one in readers]
    together = torch.stack(by_reader, 1).float().cpu().numpy()
    cut = []
    for shares, document in zip(together, batch.documents, strict=True):
        targets, sources = len(document.target_words or ()), len(document.words or ())
        own = np.zeros((len(readers), targets, sources), np.float32)
        part = shares[:, :targets, :sources]
        own[:, : part.shape[1], : part.shape[2]] = part
        cut.append(own)
    return cut
