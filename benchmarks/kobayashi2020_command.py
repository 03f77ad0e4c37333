"""What `headscope paper kobayashi2020` costs, from the command to the last figure, beside its plain forward passes."""

from __future__ import annotations

import copy
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from benchmarks.kobayashi2020_speed import sequences, shards_for
from benchmarks.passes import PLAIN, forward
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from benchmarks.study_cost import wikitext
from headscope.children import end_with_parent
from headscope.demo.model import open_model, packaged_folder
from headscope.papers.kobayashi2020.lengths import CutAtLengths, up_to
from headscope.study.count import BatchSettings
from headscope.text import Corpus, Document

SEGMENTS, LENGTH = 992, 128


def kobayashi2020_command(settings: Settings) -> list[Row]:
    """The whole command on 992 sequences of WikiText, once, against the plain forward passes over them: all-MiniLM-L6-v2."""
    count, folder = 8 if settings.quick else SEGMENTS, packaged_folder()
    if folder is None:
        return []
    with tempfile.TemporaryDirectory() as work:
        path = wikitext() or _written(Path(work) / "text.txt", count)
        command = [sys.executable, "-m", "headscope", "paper", "kobayashi2020", str(folder), "--text", str(path)]
        command += ["--text-format", "paragraph-pairs", "--segments", str(count), "-o", str(Path(work) / "run"), "--json"]
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, preexec_fn=end_with_parent)
        taken = time.perf_counter() - began
        texts = list(islice(Corpus.from_files(path, format="paragraph-pairs"), count))
        plain = _forward(texts)
    what = f"headscope paper kobayashi2020, {len(texts)} sequences"
    return [Row(PLAIN, [plain], "s"), Row(what, [taken], "s", taken / plain, "x", f"time of {PLAIN}", Target("<=", 2.2))]


def _forward(texts: list[Document]) -> float:
    """Seconds of the plain passes: over the texts, and over the same cut at lengths of their own, for figure 25."""
    with open_model() as lens:
        plain = copy.deepcopy(lens.model)
        plain.set_attn_implementation("sdpa")
        whole = shards_for(lens, texts, BatchSettings(max_tokens=LENGTH, truncate=True), len(texts))
        cut = shards_for(lens, texts, BatchSettings(encoding=CutAtLengths(up_to(LENGTH))), len(texts))
    batches = [batch for (some,) in (whole, cut) for batch in some]
    forward(plain, batches[:1])  # kernels are set up before anything is measured
    began = time.perf_counter()
    forward(plain, batches)
    return time.perf_counter() - began


def _written(path: Path, count: int) -> Path:
    """The demo's text as paragraphs, where WikiText is not here."""
    pairs = [text for one in sequences(count) for text in (one.text, one.pair) if text]
    path.write_text("\n\n".join(pairs), encoding="utf-8")
    return path
