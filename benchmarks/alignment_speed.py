"""What word alignment costs beside the plain forced-decoding forward pass, and how its memory grows."""

from __future__ import annotations

import copy
import tempfile
from itertools import cycle, islice
from pathlib import Path

import torch

import headscope
from benchmarks.memory import Memory, in_fresh_process, memory_of
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from benchmarks.timing import alternate, as_ratios
from headscope.alignment.aligner import Aligner
from headscope.alignment.choice import Choice
from headscope.alignment.head_set import HeadSet, Reader
from headscope.alignment.linking import encode_pair, weigh_batch
from headscope.alignment.run import align
from headscope.lens.tokens.batch import Batch
from headscope.text.parallel import parallel_documents

PLAIN = "plain SDPA forced decoding"
LAYER, HEAD, SIX = "links by a layer's joint norm", "links by a head's norm", "links by six heads that agree (the default)"
AGREEING = ((0, 5, "AWI"), (1, 7, "AWI"), (2, 3, "AWI"), (2, 6, "AWI"), (3, 2, "AWI"), (5, 0, "AWO"))  # what it chooses here
PAIRS, BATCH = 128, 16
FEW, MANY = 1_000, 4_000
SHARED = Path(__file__).resolve().parents[2] / "shared"
MODEL = SHARED / "models" / "opus-mt-fr-en"
HANSARDS = SHARED / "data" / "alignment" / "hansards" / "en-fr.txt"


def alignment_speed(settings: Settings) -> list[Row]:
    """Links of every pair against the plain forward pass of the same batches: opus-mt-fr-en on Hansards, repeated."""
    if not (MODEL.is_dir() and HANSARDS.is_file()):
        return []
    with headscope.open(MODEL) as lens:
        plain = copy.deepcopy(lens.model)
        plain.set_attn_implementation("sdpa")
        some = list(islice(cycle(parallel_documents(HANSARDS, first="target")), BATCH if settings.quick else PAIRS))
        encoded = sorted((encode_pair(lens, document) for document in some), key=lambda pair: len(pair.source))
        batches = [lens.encoder.collate(encoded[start : start + BATCH]) for start in range(0, len(encoded), BATCH)]
        things = {PLAIN: lambda: _forward(plain, batches)}
        six = HeadSet(tuple(Reader(*place) for place in AGREEING))
        choices: dict[str, Aligner] = {LAYER: Choice(2), HEAD: Choice(2, 3), SIX: six}
        for name, choice in choices.items():
            things[name] = lambda choice=choice: _link(lens, batches, choice)  # type: ignore[misc]
        targets = {name: Target("<=", 1.5) for name in choices}
        return as_ratios(alternate(things, settings.repeats), PLAIN, targets)


def alignment_memory(settings: Settings) -> list[Row]:
    """Peak memory of a whole alignment: 4,000 short pairs against 1,000."""
    if not (MODEL.is_dir() and HANSARDS.is_file()):
        return []
    few, many = (20, 40) if settings.quick else (FEW, MANY)
    small, large = (in_fresh_process(align_peak, count) for count in (few, many))
    return [
        Row(f"{few:,} pairs", [small.peak], "MB"),
        Row(f"{many:,} pairs", [large.peak], "MB", large.peak / small.peak, "x", f"memory of {few:,}", Target("<=", 1.1)),
    ]


def align_peak(count: int) -> Memory:
    """Links of `count` pairs out of a file, in this process."""
    with headscope.open(MODEL) as lens, tempfile.TemporaryDirectory() as folder:
        pairs = Path(folder) / "pairs.txt"
        lines = [line for line in HANSARDS.read_text(encoding="utf-8").splitlines(keepends=True) if len(line.split()) < 20]
        with pairs.open("w", encoding="utf-8") as file:
            file.writelines(islice(cycle(lines), count))
        corpus = parallel_documents(pairs, first="target")
        return memory_of(lambda: align(lens, corpus, out=Path(folder) / "run", layer=2))


def _forward(model: torch.nn.Module, batches: list[Batch]) -> None:
    with torch.inference_mode():
        for batch in batches:
            model.model(**batch.inputs, use_cache=False)


def _link(lens: headscope.Lens, batches: list[Batch], choice: Aligner) -> None:
    for batch in batches:
        weigh_batch(lens, Batch(batch.inputs, batch.sources, batch.targets, batch.documents), choice)
