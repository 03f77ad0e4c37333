"""How often a study asks its device for numbers and waits for them: counted, since it can be without another device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Self

import torch
from torch.overrides import TorchFunctionMode

import headscope
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from headscope.demo.model import open_model
from headscope.demo.text import text
from headscope.kernels import threads
from headscope.statistics import STATISTICS, usual_statistics
from headscope.study.count import BatchSettings
from headscope.study.groups import group_size
from headscope.study.manifest import MadeWith
from headscope.study.shards import SHARD, Shard
from headscope.study.work import Work
from headscope.text import Document

# What gives a number to Python, or a tensor whose size depends on numbers.
ASKS = (
    "cpu",
    "numpy",
    "item",
    "tolist",
    "__bool__",
    "__int__",
    "__float__",
    "__index__",
    "nonzero",
    "masked_select",
    "unique",
)
_NAMED = {getattr(torch.Tensor, name): name for name in ASKS} | {torch.nonzero: "nonzero", torch.unique: "unique"}


class HostWaits(TorchFunctionMode):
    """Counts what would wait for a device, by name, while it is entered: no number counts as being here already."""

    def __init__(self) -> None:
        super().__init__()
        self.by_name: Counter[str] = Counter()

    def __enter__(self) -> Self:
        self._here, threads.HERE = threads.HERE, frozenset()
        return super().__enter__()

    def __exit__(self, *given: Any) -> None:
        threads.HERE = self._here
        super().__exit__(*given)

    @property
    def total(self) -> int:
        """`.cpu().numpy()` waits once."""
        return self.by_name.total() - self.by_name["numpy"] + max(0, self.by_name["numpy"] - self.by_name["cpu"])

    def __torch_function__(self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _NAMED:
            self.by_name[_NAMED[func]] += 1
        elif func is torch.Tensor.__getitem__ and _is_mask(args[1]):
            self.by_name["nonzero"] += 1
        return func(*args, **(kwargs or {}))


def _is_mask(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, torch.Tensor) and part.dtype == torch.bool for part in parts)


def host_waits(settings: Settings) -> list[Row]:
    """How often a shard of 256 texts waits for its device, with all usual statistics by weight and norm: MiniLM."""
    with open_model() as lens:
        one, whole = (waits_of(lens, count) for count in (1, 8 if settings.quick else SHARD))
    target = Target("<=", 100)
    return [
        Row("one text", [float(one)], "waits"),
        Row("a shard", [float(whole)], "waits", float(whole), "waits", "in all", target),
    ]


def waits_of(lens: headscope.Lens, texts: int) -> int:
    """Of one shard of so many texts."""
    words = text().split()
    documents = [Document(" ".join(words[n % 50 : n % 50 + 12])) for n in range(texts)]
    chosen = [STATISTICS[name](measure=measure) for measure in ("weight", "norm") for name in usual_statistics()]
    work = Work(lens.source, chosen, BatchSettings(), group_size(texts), 1, MadeWith.of(lens))
    with HostWaits() as waits:
        work.count(lens, Shard(0, 0, documents))
    return waits.total
