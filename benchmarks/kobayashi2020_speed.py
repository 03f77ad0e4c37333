"""What kobayashi2020's first half costs beside the plain forward pass: the texts whole, and cut for figure 25."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch

from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from benchmarks.timing import alternate, as_ratios
from headscope.demo.model import open_model
from headscope.demo.text import text
from headscope.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.papers.kobayashi2020.lengths import CutAtLengths, up_to
from headscope.papers.kobayashi2020.settings import Settings as PaperSettings
from headscope.papers.kobayashi2020.settings import one_pass
from headscope.statistics import EffectiveByLength
from headscope.statistics.base import Statistic, settle_all
from headscope.statistics.norms.frequencies import Frequencies
from headscope.study.count import BatchSettings, batches_of, encode_all, update
from headscope.text import Document

PLAIN = "plain SDPA forward"
PASS = "all of kobayashi2020 on every text"
SEQUENCES, LENGTH, BATCH = 64, 128, 16


def kobayashi2020_speed(settings: Settings) -> list[Row]:
    """Every statistic of kobayashi2020 on every text against the plain forward pass over the same: MiniLM, 128 tokens."""
    count = 4 if settings.quick else SEQUENCES
    with open_model() as lens, tempfile.TemporaryDirectory() as folder:
        plain = copy.deepcopy(lens.model)
        plain.set_attn_implementation("sdpa")
        documents = sequences(count)
        frequency = Path(folder) / "frequency.txt"
        Frequencies.count(lens.tokenizer, documents).write(frequency)
        cut = CutAtLengths(up_to(LENGTH))
        whole = batches_for(lens, documents, BatchSettings(max_tokens=LENGTH, truncate=True))
        by_length = batches_for(lens, documents, BatchSettings(encoding=cut))
        of_text = [statistic.start(lens.sites) for statistic in one_pass(PaperSettings(), frequency)]
        of_lengths: list[Statistic] = [EffectiveByLength(every=1).start(lens.sites)]

        def read() -> None:
            for batches, started in ((whole, of_text), (by_length, of_lengths)):
                for batch in batches:
                    update(lens, Batch(batch.inputs, batch.sources, batch.targets, batch.documents), started)
                settle_all(started)

        def forward() -> None:
            with torch.inference_mode():
                for batch in (*whole, *by_length):
                    plain(**batch.inputs)

        return as_ratios(alternate({PLAIN: forward, PASS: read}, settings.repeats), PLAIN, {PASS: Target("<=", 1.7)})


def batches_for(lens: Lens, documents: Sequence[Document], feed: BatchSettings) -> list[Batch]:
    """Documents as batches of about one length."""
    return list(batches_of(lens.encoder, encode_all(lens.encoder, documents, feed, {})[0], BATCH))


def sequences(count: int) -> list[Document]:
    """Pairs of passages of the demo's text, each long enough to be cut at 128 tokens."""
    words = text().split()
    while len(words) < 160 * (count + 1):
        words += words
    return [
        Document(" ".join(words[160 * n : 160 * n + 80]), " ".join(words[160 * n + 80 : 160 * (n + 1)]), name=str(n))
        for n in range(count)
    ]
