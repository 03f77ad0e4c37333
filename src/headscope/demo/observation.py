"""Observation: a study of the demo's text, and what it comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from headscope.demo import model
from headscope.demo.counts import MEASURES, Counts
from headscope.demo.findings import disagreement, widest_gap
from headscope.demo.text import TITLE, count_sentences, paragraph_pairs, text
from headscope.lens import Lens
from headscope.progress import Progress
from headscope.report.needed_tables import complete, report_statistics
from headscope.study import study
from headscope.text import Document


@dataclass(frozen=True)
class Observation:
    """What was read, and the counts over it."""

    source: str  # the folder or hub id that the model came from
    run: Path  # the study's run directory
    documents: int
    sentences: int
    tokens: int
    counts: Counts

    def to_json(self) -> dict[str, Any]:
        gap = widest_gap(self.counts)
        return {
            "model": {"name": model.NAME, "source": self.source},
            "run": str(self.run),
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


def observe(
    lens: Lens, run: Path, documents: Sequence[Document] | None = None, progress: Progress | None = None
) -> Observation:
    """A study of the text in the run directory `run`; one that is there and finished is not counted again."""
    documents = paragraph_pairs(text()) if documents is None else documents
    counted = study(
        lens,
        documents,
        report_statistics(lens, MEASURES),
        out=run,
        batch_size=2,
        shard_size=2,
        truncate=True,
        progress=progress,
    )
    complete(lens, counted, documents)
    counts = Counts.of(counted, layers=len(lens.sites), heads=lens.sites[0].heads)
    sentences = sum(count_sentences(part) for document in documents for part in (document.text, document.pair) if part)
    return Observation(lens.name, run, len(documents), sentences, counted.manifest["counts"]["tokens"], counts)


def _at(shares: dict[str, Tensor], place: int | tuple[int, int]) -> dict[str, float]:
    return {target: float(values[place]) for target, values in shares.items()}
