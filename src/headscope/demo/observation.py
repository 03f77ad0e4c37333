"""Observation: one pass of the model over the demo's text, and what was counted on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from headscope.demo import model
from headscope.demo.counts import MEASURES, Counts
from headscope.demo.findings import disagreement, widest_gap
from headscope.demo.text import TITLE, count_sentences, paragraph_pairs, text
from headscope.lens import Lens

BATCH = 2  # documents a forward pass: small, so that the progress bar moves


@dataclass(frozen=True)
class Observation:
    """What was read, and the counts over it."""

    source: str  # the folder or hub id that the model came from
    documents: int
    sentences: int
    tokens: int
    counts: Counts

    def to_json(self) -> dict[str, Any]:
        gap = widest_gap(self.counts)
        return {
            "model": {"name": model.NAME, "source": self.source},
            "text": {
                "title": TITLE,
                "documents": self.documents,
                "sentences": self.sentences,
                "tokens": self.tokens,
            },
            "heads": self._heads(),
            "layers": [
                {"layer": layer, **{measure: _at(self.counts.layer_shares(measure), layer) for measure in MEASURES}}
                for layer in range(len(self.counts.entropy))
            ],
            "disagreement": {
                "about": gap.kind,
                "weight": gap.weight,
                "norm": gap.norm,
                "agree": gap.agree,
                "in_words": disagreement(self.counts),
            },
        }

    def _heads(self) -> list[dict[str, Any]]:
        breadth, shares = self.counts.breadth(), {measure: self.counts.shares(measure) for measure in MEASURES}
        layers, heads = breadth.shape
        return [
            {
                "layer": layer,
                "head": head,
                "breadth": float(breadth[layer, head]),
                **{measure: _at(shares[measure], (layer, head)) for measure in MEASURES},
            }
            for layer in range(layers)
            for head in range(heads)
        ]


def observe(lens: Lens, advance: Callable[[int, int], None] = lambda done, total: None) -> Observation:
    """Read the text once. `advance` is told how many of the documents are done."""
    whole = text()
    documents = paragraph_pairs(whole)
    counts = Counts(layers=len(lens.sites), heads=lens.sites[0].heads)
    tokens = 0
    for start in range(0, len(documents), BATCH):
        batch = lens.batch(documents[start : start + BATCH], truncate=True)
        lens.run(batch, counts.update)
        tokens += sum(len(sequence) for sequence in batch.sources)
        advance(start + batch.size, len(documents))
    return Observation(lens.name, len(documents), count_sentences(whole), tokens, counts)


def _at(shares: dict[str, Tensor], place: int | tuple[int, int]) -> dict[str, float]:
    return {target: float(values[place]) for target, values in shares.items()}
