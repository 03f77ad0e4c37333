"""What a view of one head holds in memory: `headscope view --only 3.1` of a long text, read by rows."""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaModel

import headscope
from benchmarks.long_text import long_text
from benchmarks.memory import Memory, in_fresh_process, memory_of
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from headscope.text import Document
from headscope.views import view_of
from headscope.views.by_rows import read_heads

LENGTH, HEADS = 4000, 32
ONLY = {3: [1]}


def head_view_memory(settings: Settings) -> list[Row]:
    """Peak memory of a page, an SVG and a PNG of one of 32 heads of a layer, above the open model: 4,000 tokens."""
    length, heads = (64, 4) if settings.quick else (LENGTH, HEADS)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for file, view in (
            ("view.html", "head"),
            ("neurons.html", "neuron"),
            ("view.svg", "matrix"),
            ("view.png", "matrix"),
        ):
            memory = in_fresh_process(view_memory, length, heads, Path(folder) / file, True, view)
            most, above = Target("<=", 1000), "above the open model"
            rows.append(Row(f"{file} ({view} view)", [memory.increase], "MB", memory.increase, "MB", above, most))
    return rows


def view_memory(length: int, heads: int, path: Path, rows: bool, view: str = "head") -> Memory:
    """Reading a text and writing a view of one head, in this process: by rows, or out of a whole reading."""
    torch.manual_seed(0)
    shape = {"hidden_size": 16 * heads, "intermediate_size": 32 * heads, "num_hidden_layers": 4, "vocab_size": 1000}
    config = LlamaConfig(**shape, num_attention_heads=heads, num_key_value_heads=heads, max_position_embeddings=8192)
    tokenizer, document = long_text(length)
    with headscope.open(LlamaModel(config), tokenizer) as lens:
        lens.read("a b c")  # libraries set up their threads and kernels before anything is measured

        def work() -> None:
            if rows:
                made = view_of(view, read_heads(view, lens, Document(document), ONLY))
            else:
                made = view_of(view, lens.read(document, layers=list(ONLY)), only=ONLY)
            made.save(path)

        return memory_of(work)
