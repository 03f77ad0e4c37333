"""What reading holds in memory: the lens against the plain forward pass, at GPT-2 small's shape."""

from __future__ import annotations

from typing import Literal

import torch

import headscope
from benchmarks.memory import Memory, in_fresh_process, memory_of
from benchmarks.models import gpt2_small, random_batch
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from headscope import AttentionBlock

LENGTH, LONG = 2048, 8192
WARM_UP = 8  # tokens: libraries set up their threads and kernels before anything is measured
PLAIN = "plain SDPA forward"

Way = Literal["sdpa", "eager", "lens"]


def lens_memory(settings: Settings) -> list[Row]:
    """Peak memory of the lens over the plain forward pass: GPT-2 small, 2,048 tokens."""
    length = 64 if settings.quick else LENGTH
    plain, lens, eager = (_in_fresh_process(way, length, settings) for way in ("sdpa", "lens", "eager"))
    above = f"above {PLAIN}"
    return [
        Row(PLAIN, [plain.increase], "MB"),
        Row("lens: weight, norm", [lens.increase], "MB", lens.increase - plain.increase, "MB", above, Target("<=", 250)),
        Row("eager, output_attentions", [eager.increase], "MB", eager.increase - plain.increase, "MB", above),
    ]


def long_text_memory(settings: Settings) -> list[Row]:
    """Peak memory of the lens on one long text: GPT-2 small, 8,192 tokens."""
    memory = _in_fresh_process("lens", 64 if settings.quick else LONG, settings)
    return [
        Row("lens: the forward pass alone", [memory.increase], "MB"),
        Row(
            "lens: the whole process",
            [memory.process_peak],
            "MB",
            memory.process_peak,
            "MB",
            "in all",
            Target("<=", 2000),
        ),
    ]


def _in_fresh_process(way: Way, length: int, settings: Settings) -> Memory:
    return in_fresh_process(forward_memory, way, length, settings.quick)


def forward_memory(way: Way, length: int, quick: bool) -> Memory:
    """One forward pass of GPT-2 small on `length` tokens, in this process."""
    model = gpt2_small(length, quick)
    short, batch = random_batch(model, [WARM_UP]), random_batch(model, [length])
    if way == "lens":
        with headscope.open(model) as lens:
            lens.run(short, _read)
            return memory_of(lambda: lens.run(batch, _read))
    model.set_attn_implementation(way)
    options = {"use_cache": False, "output_attentions": way == "eager"}
    with torch.inference_mode():
        model(**short.inputs, **options)
        return memory_of(lambda: model(**batch.inputs, **options))


def _read(block: AttentionBlock) -> None:
    block.scores("weight")
    block.scores("norm")
