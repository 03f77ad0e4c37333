"""Weights and norms of every head, read with each tool: how long it takes, what it holds, how long a text may be."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from benchmarks.memory import Memory, in_fresh_process, memory_of
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import alternate, as_ratios
from torch import Tensor, nn

from comparisons.models import MINILM, SMOLLM2, Model, batch_of
from comparisons.readers.catalogue import FORMULAS, installed, open_reader, titled
from comparisons.readers.reader import Reader
from comparisons.table import OURS, Line, Table, difference
from headscope.lens.tokens.batch import Batch

LIMIT = 8_000_000_000  # bytes
ALONE = "the model alone, nothing read"
SHORT = 128
_NO_MEMORY = ("can't allocate memory", "not enough memory", "bad_alloc", "Cannot allocate memory")
ABOUT = """All maps: weights and norms ‖αf(x)‖ of every head of {short} tokens, as arrays. A number a head: the part of
each row that its strongest key has, by weight and by norm, of {long:,} tokens, with nothing kept but these numbers;
memory is the peak above the open model. TransformerLens and nnsight give weights, values and W_O, and the norms are a
few lines of their user's, written here as a good user would: α‖vW_O‖, reduced in the hook or the trace, never α f(x) as
vectors. The papers' formulas are transformers' `output_attentions=True` and every α f(x) as a vector, as in
kobayashi2020's code. Agreement is the largest difference of any weight and of any norm (relative to the largest) from
the papers' formulas at {short} tokens, and of the model's last hidden states while it is read from those of the model
alone. At {short} tokens nnsight is as quick as headscope, or a little quicker; on long texts headscope holds blocks of
rows, where the others hold a layer's whole map."""
LONGEST = """
The longest text is searched by halving, from the {most:,} tokens that the model takes, in a process that may hold 8 GB."""


def encoder_attention(settings: Settings) -> Table:
    """Weights and norms of all-MiniLM-L6-v2, 6 x 12 heads, 512 tokens: time, memory, agreement."""
    return compare(MINILM, 16 if settings.quick else SHORT, 32 if settings.quick else 512, settings)


def decoder_attention(settings: Settings) -> Table:
    """Weights and norms of SmolLM2-135M, 30 x 9 heads, 1,024 tokens, and the longest text within 8 GB."""
    if settings.quick:
        return compare(SMOLLM2, 16, 32, settings, most=64)
    return compare(SMOLLM2, SHORT, 1024, settings, most=8192)


def compare(model: Model, short: int, long: int, settings: Settings, most: int | None = None) -> Table:
    """Every tool that is installed, on `short` and on `long` tokens; with `most`, also how many fit into 8 GB."""
    plain, tokenizer = model.load()
    batches = {tokens: batch_of(plain, tokenizer, tokens) for tokens in (8, short, long)}
    tools = installed()
    memory = {tool: memory_within(tool, model, batches[8], batches[long]) for tool in tools}
    readers = {tool: open_reader(tool, model) for tool in tools}
    fit = {tool: reader for tool, reader in readers.items() if memory[tool] is not None}
    maps = {ALONE: partial(forward, plain.base_model, batches[short])}
    maps |= {tool: partial(reader.maps, batches[short]) for tool, reader in readers.items()}
    numbers = {ALONE: partial(forward, plain.base_model, batches[long])}
    numbers |= {tool: partial(reader.strongest, batches[long]) for tool, reader in fit.items()}
    columns: dict[str, Mapping[str, Row | str]] = {
        f"all maps, {short} tokens": _timed(maps, settings.repeats),
        f"a number a head, {long:,} tokens": _timed(numbers, settings.repeats),
        "memory for it": {tool: _megabytes(found) for tool, found in memory.items()},
    }
    if most is not None:
        # Where `long` does not fit, no longer text will.
        start = {tool: most if tool in fit else long // 2 for tool in tools}
        columns["longest text in 8 GB"] = {tool: _longest(tool, model, plain, tokenizer, start[tool]) for tool in tools}
    columns |= agreement(readers, plain, batches[short])
    lines = [
        Line(
            tool if tool == ALONE else titled(tool), {name: found[tool] for name, found in columns.items() if tool in found}
        )
        for tool in (OURS, *(tool for tool in tools if tool != OURS), ALONE)
    ]
    about = ABOUT.format(short=short, long=long) + ("" if most is None else LONGEST.format(most=most))
    return Table(f"Attention of {model.name}", about, lines)


def agreement(readers: Mapping[str, Reader], plain: Any, batch: Batch) -> dict[str, dict[str, str]]:
    """How far each tool's numbers are from the formulas', and its model's output from the model's own."""
    own = forward(plain.base_model, batch)
    weights, norms = readers[FORMULAS].maps(batch)
    found: dict[str, dict[str, str]] = {"weights": {}, "norms": {}, "the model's output": {}}
    for tool, reader in readers.items():
        with output_of(reader.backbone) as outputs:
            weight, norm = reader.maps(batch)
        if tool != FORMULAS:
            found["weights"][tool] = difference(float((weight - weights).abs().max()))
            found["norms"][tool] = difference(float((norm - norms).abs().max() / norms.max()))
        found["the model's output"][tool] = difference(float((outputs[0] - own).abs().max() / own.abs().max()))
    return found


def forward(backbone: nn.Module, batch: Batch) -> Tensor:
    """The last hidden states of the model by itself."""
    options = {"use_cache": False} if getattr(backbone, "config", None) and backbone.config.model_type == "llama" else {}
    with torch.inference_mode():
        return backbone(**batch.inputs, **options).last_hidden_state


@contextmanager
def output_of(backbone: nn.Module) -> Iterator[list[Tensor]]:
    """The last hidden states of whatever runs the model inside."""
    outputs: list[Tensor] = []
    hook = backbone.register_forward_hook(lambda module, given, output: outputs.append(output[0].detach()))
    try:
        yield outputs
    finally:
        hook.remove()


def memory_within(tool: str, model: Model, warm_up: Batch, batch: Batch) -> Memory | None:
    """What a number a head takes, in a process that may hold 8 GB; None where that is not enough."""
    try:
        return in_fresh_process(_limited, tool, model, warm_up, batch)
    except BrokenProcessPool:
        return None


def _limited(tool: str, model: Model, warm_up: Batch, batch: Batch) -> Memory | None:
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    reader = open_reader(tool, model)
    reader.strongest(warm_up)
    try:
        return memory_of(lambda: reader.strongest(batch))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY):
            return None
        raise


def _longest(tool: str, model: Model, plain: Any, tokenizer: Any, most: int) -> Row | str:
    tokens, warm_up = most, batch_of(plain, tokenizer, 8)
    while tokens > 8:
        if memory_within(tool, model, warm_up, batch_of(plain, tokenizer, tokens)) is not None:
            return Row("longest text", [tokens], "tokens")
        tokens //= 2
    return "none"


def _timed(things: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, Row | str]:
    return {row.what: row for row in as_ratios(alternate(things, repeats), OURS, {})}


def _megabytes(found: Memory | None) -> Row | str:
    return "more than 8 GB" if found is None else Row("memory", [found.increase], "MB")
