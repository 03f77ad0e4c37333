"""What kobayashi2020's first half costs beside the plain forward pass: the texts whole, and cut for figure 25."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.passes import compared, count
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from headscope.demo.model import open_model
from headscope.demo.text import text
from headscope.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.papers.kobayashi2020.lengths import CutAtLengths, up_to
from headscope.papers.kobayashi2020.settings import Settings as PaperSettings
from headscope.papers.kobayashi2020.settings import one_pass
from headscope.statistics import EffectiveByLength
from headscope.statistics.norms.frequencies import Frequencies
from headscope.study.count import BatchSettings, batches_of, encode_all
from headscope.text import Document

PASS = "all of kobayashi2020 on every text"
SEQUENCES, LENGTH, BATCH = 128, 128, 16
SHARD = 32  # texts, as the command has it; where texts are cut it has more


def kobayashi2020_speed(settings: Settings) -> list[Row]:
    """Every statistic of kobayashi2020 on every text against the plain forward pass over the same: MiniLM, 128 tokens."""
    with open_model() as lens, tempfile.TemporaryDirectory() as folder:
        plain = copy.deepcopy(lens.model)
        plain.set_attn_implementation("sdpa")
        documents = sequences(4 if settings.quick else SEQUENCES)
        frequency = Path(folder) / "frequency.txt"
        Frequencies.count(lens.tokenizer, documents).write(frequency)
        cut = BatchSettings(encoding=CutAtLengths(up_to(LENGTH)))
        whole = shards_for(lens, documents, BatchSettings(max_tokens=LENGTH, truncate=True), SHARD)
        by_length = shards_for(lens, documents, cut, SHARD)
        of_text = one_pass(PaperSettings(), frequency)

        def read() -> None:
            count(lens, whole, of_text)
            count(lens, by_length, [EffectiveByLength(every=1)])

        return compared({PASS: read}, lens, plain, [*whole, *by_length], settings.repeats, {PASS: Target("<=", 1.7)})


def shards_for(lens: Lens, documents: Sequence[Document], feed: BatchSettings, size: int) -> list[list[Batch]]:
    """Documents as shards, each with its batches of about one length."""
    shards = [documents[start : start + size] for start in range(0, len(documents), size)]
    return [list(batches_of(lens.encoder, encode_all(lens.encoder, some, feed, {})[0], BATCH)) for some in shards]


def sequences(count: int) -> list[Document]:
    """Pairs of passages of the demo's text, each long enough to be cut at 128 tokens."""
    words = text().split()
    while len(words) < 160 * (count + 1):
        words += words
    return [
        Document(" ".join(words[160 * n : 160 * n + 80]), " ".join(words[160 * n + 80 : 160 * (n + 1)]), name=str(n))
        for n in range(count)
    ]
