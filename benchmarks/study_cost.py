"""What a study costs: time against the plain forward pass, memory against the size of the corpus and of the text."""

from __future__ import annotations

import copy
import os
import resource
import tempfile
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from transformers import LlamaConfig, LlamaModel

import headscope
from benchmarks.long_text import long_text
from benchmarks.memory import Memory, in_fresh_process, memory_of
from benchmarks.passes import compared, count
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from headscope.demo.model import open_model
from headscope.demo.text import text
from headscope.lens.tokens.batch import Batch
from headscope.statistics import STATISTICS, usual_statistics
from headscope.statistics.base import Statistic
from headscope.text import Corpus, Document

ALL = f"all {len(usual_statistics())} statistics by weight"
BOTH = f"{ALL} and by norm"
SHARDS, BATCH, LIMIT = 8, 16, 128
FEW, MANY = 1_000, 4_000
LONG = 16_384


def study_speed(settings: Settings) -> list[Row]:
    """All statistics against the plain forward pass: all-MiniLM-L6-v2 on WikiText paragraph pairs."""
    with open_model() as lens:
        plain = copy.deepcopy(lens.model)
        plain.set_attn_implementation("sdpa")
        shards = wikitext_shards(lens, 1 if settings.quick else SHARDS)
        things = {
            ALL: lambda: count(lens, shards, _usual(["weight"])),
            BOTH: lambda: count(lens, shards, _usual(["weight", "norm"])),
        }
        return compared(things, lens, plain, shards, settings.repeats, {ALL: Target("<=", 1.25), BOTH: Target("<=", 1.4)})


def study_memory(settings: Settings) -> list[Row]:
    """Peak memory of a whole study: 4,000 short documents against 1,000."""
    few, many = (40, 80) if settings.quick else (FEW, MANY)
    small, large = (in_fresh_process(study_peak, count) for count in (few, many))
    versus, target, rows = f"memory of {few:,}", Target("<=", 1.1), []
    for what, few_of, many_of in zip(("", ", the largest copy of the process"), small, large, strict=True):
        rows.append(Row(f"{few:,} documents{what}", [few_of], "MB"))
        rows.append(Row(f"{many:,} documents{what}", [many_of], "MB", many_of / max(few_of, 1), "x", versus, target))
    return rows


def long_text_study_memory(settings: Settings) -> list[Row]:
    """Peak memory of all statistics on one text of 16,384 tokens, in a tiny Llama with grouped heads."""
    memory = in_fresh_process(long_text_peak, 256 if settings.quick else LONG)
    return [Row("the whole process", [memory.process_peak], "MB", memory.process_peak, "MB", "in all", Target("<=", 3000))]


def study_peak(count: int) -> tuple[float, float]:
    """MB of a study of `count` documents, in this process, and in the largest of those that it starts (the model's too)."""
    with open_model() as lens, tempfile.TemporaryDirectory() as folder:
        documents = list(islice(cycle(_sentences()), count))
        here = memory_of(lambda: headscope.study(lens, documents, out=Path(folder) / "run", max_tokens=16, truncate=True))
        return here.peak, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def long_text_peak(length: int) -> Memory:
    """All statistics over one long text, in this process."""
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "vocab_size": 1000}
    config = LlamaConfig(**sizes, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=length)
    tokenizer, text = long_text(length)
    with headscope.open(LlamaModel(config), tokenizer) as lens:
        batch = lens.encoder.batch([text])
        return memory_of(lambda: count(lens, [[batch]], _usual(["weight"])))


def _usual(measures: list[str]) -> list[Statistic]:
    return [STATISTICS[name](measure=measure) for measure in measures for name in usual_statistics()]


def wikitext() -> Path | None:
    """WikiText where it is; the demo's text serves elsewhere."""
    folder = Path(os.environ.get("HEADSCOPE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    path = folder / "text" / "wikitext2-raw-test.txt"
    return path if path.is_file() else None


def wikitext_shards(lens: headscope.Lens, count: int) -> list[list[Batch]]:
    """Paragraph pairs, cut at 128 tokens, in shards of a batch each."""
    path = wikitext()
    pairs: Iterator[Document] = (
        iter(Corpus.from_files(path, format="paragraph-pairs")) if path else cycle([Document(text())])
    )
    return [[lens.encoder.batch(list(islice(pairs, BATCH)), max_tokens=LIMIT, truncate=True)] for _ in range(count)]


def _sentences() -> list[str]:
    path = wikitext()
    source = path.read_text(encoding="utf-8") if path else text()
    return [sentence for sentence in source.replace("\n", " ").split(" . ") if len(sentence.split()) > 3]
