"""What a league costs, said before it starts: passes of one text through the model, and how long they may take here."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from headscope.ablation.exact import run
from headscope.ablation.predicted import has_words
from headscope.ablation.removals import removable
from headscope.later import torch
from headscope.lens.head import Head
from headscope.lens.lens import Lens
from headscope.progress import duration
from headscope.text import Document

TRIED = 8  # texts that are timed
BACKWARD = 2  # a backward pass, in passes


@dataclass(frozen=True)
class Cost:
    """In passes of one text from the beginning to the end, most of them begin at a head's layer."""

    texts: int
    heads: int
    effects: float
    estimates: float
    curves: float
    tokens: float
    seconds_a_pass: float

    @property
    def passes(self) -> float:
        means_and_study = 2 * self.texts
        return self.effects + self.estimates + self.curves + self.tokens + means_and_study

    def __str__(self) -> str:
        parts = [f"{self.effects:,.0f} for the effects"]
        parts += [f"{self.estimates:,.0f} for estimates"] if self.estimates else []
        parts += [f"{self.curves:,.0f} for the curves"] if self.curves else []
        parts += [f"{self.tokens:,.0f} for single tokens"] if self.tokens else []
        return (
            f"{self.heads} heads and {self.texts:,} texts: as much work as {self.passes:,.0f} passes of one text "
            f"({', '.join(parts)}), roughly {duration(self.passes * self.seconds_a_pass)} here."
        )


def cost_of(
    lens: Lens,
    texts: Sequence[Document],
    heads: Sequence[Head],
    *,
    ways: int,
    draws: int,
    sets: int,
    curve_texts: int,
    rows: int = 0,
) -> Cost:
    """A head's passes begin at its layer; a set's, nearly always, at the first. `draws` of labels, for the estimates.

    `rows` of each attention lose every token that they see twice: from one head, and from all.
    """
    order = {(site.stack, site.kind, site.layer): site.index for site in lens.sites}
    ahead = sum(1 - order[head[:3]] / len(order) for head in heads)
    estimates = len(texts) * (1 + BACKWARD * (1 + draws)) if has_words(lens) else 0
    curves = sets * min(len(texts), curve_texts)
    tokens = sum(
        2 * min(rows, curve_texts * length) * seen * (1 - site.index / len(order))
        for site in (removable(lens) if rows else ())
        for length in [mean_length(lens, texts)]
        for seen in [length / 2 if site.stack == "decoder" and site.kind == "self" else length]
    )
    exact = len(texts) * ways * ahead
    return Cost(len(texts), len(heads), exact, estimates, curves, tokens, seconds_a_pass(lens, texts))


def mean_length(lens: Lens, texts: Sequence[Document]) -> float:
    """Tokens of one text, from some of them."""
    lengths = [len(source) for source in lens.encoder.batch(_some(texts), truncate=True).sources]
    return sum(lengths) / len(lengths)


def _some(texts: Sequence[Document]) -> list[Document]:
    return [texts[place * len(texts) // min(TRIED, len(texts))] for place in range(min(TRIED, len(texts)))]


def seconds_a_pass(lens: Lens, texts: Sequence[Document]) -> float:
    """Of one text of mean length, fed with some others; the second time, when everything has been loaded."""
    batch = lens.encoder.batch(_some(texts), truncate=True)
    lengths = [len(source) for source in batch.sources]
    with torch.no_grad():
        for _ in range(2):
            begun = time.perf_counter()
            run(lens, batch.inputs, has_words(lens))
            taken = time.perf_counter() - begun
    return taken / (max(lengths) * len(lengths)) * (sum(lengths) / len(lengths))
