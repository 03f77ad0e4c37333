"""What word alignment costs beside the plain forced-decoding forward pass, and how its memory grows."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import torch

import headscope
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from benchmarks.timing import alternate, as_ratios
from headscope.alignment.choice import Choice
from headscope.alignment.linking import choose_words, encode_pair
from headscope.lens.batch import Batch
from headscope.text import Document
from headscope.text.parallel import parallel_documents

PLAIN = "plain SDPA forced decoding"
LAYER, HEAD = "links by a layer's joint norm", "links by a head's norm"
PAIRS, BATCH = 400, 16


def alignment_speed(settings: Settings) -> list[Row]:
    """Links of every pair against the plain forward pass of the same batches: opus-mt-fr-en on Hansards, repeated."""
    shared = Path(os.environ.get("HEADSCOPE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    folder = shared / "models" / "opus-mt-fr-en"
    pairs = shared / "data" / "alignment" / "hansards" / "en-fr.txt"
    if not (folder.is_dir() and pairs.is_file()):
        return []
    with headscope.open(folder) as lens:
        plain = copy.deepcopy(lens.model)
        plain.set_attn_implementation("sdpa")
        some = list(islice(_again(pairs), BATCH if settings.quick else PAIRS))
        encoded = sorted((encode_pair(lens, document) for document in some), key=lambda pair: len(pair.source))
        batches = [lens.collate(encoded[start : start + BATCH]) for start in range(0, len(encoded), BATCH)]
        things = {PLAIN: lambda: _forward(plain, batches)}
        for name, choice in {LAYER: Choice(2), HEAD: Choice(2, 3)}.items():
            things[name] = lambda choice=choice: _link(lens, batches, choice)  # type: ignore[misc]
        targets = {LAYER: Target("<=", 1.5), HEAD: Target("<=", 1.5)}
        return as_ratios(alternate(things, settings.repeats), PLAIN, targets)


def _again(pairs: Path) -> Iterator[Document]:
    while True:
        yield from parallel_documents(pairs, first="target")


def _forward(model: torch.nn.Module, batches: list[Batch]) -> None:
    with torch.inference_mode():
        for batch in batches:
            model.model(**batch.inputs, use_cache=False)


def _link(lens: headscope.Lens, batches: list[Batch], choice: Choice) -> None:
    for batch in batches:
        choose_words(lens, Batch(batch.inputs, batch.sources, batch.targets, batch.documents), choice)
