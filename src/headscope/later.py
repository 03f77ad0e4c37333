"""What is imported when it is used: the large libraries, and our own rooms that need them.

A command that only checks its arguments loads none of them. `from headscope.later import Tensor, pd, torch` gives names that
stand for the libraries': whoever calls one, takes one of its attributes or asks whether something is an instance of it has
it loaded, and a type checker sees the libraries themselves. Annotations must not be evaluated for that
(`from __future__ import annotations`).

Where a library is needed to define something, such as the class that another is made of, it is imported as always; a package
of such modules opens its doors by name (`doors`), and what is behind a door comes when someone goes through it.

>>> from headscope.later import torch
>>> torch
<torch, when it is used>
>>> torch.ones(2).sum().item()
2.0
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = [
    "Figure", "Later", "PreTrainedModel", "Rectangle", "Tensor", "doors", "huggingface_hub", "matplotlib", "nn", "pa", "pd",
    "pq", "scipy", "sklearn", "stats", "ticker", "torch", "transformers",
]  # fmt: skip


class Later:
    """Stands for a module, or for a name in one, until it is used."""

    def __init__(self, module: str, name: str | None = None) -> None:
        self._module, self._name = module, name
        self._there: Any = None  # what it stands for, once it is used: a pass over a corpus asks a thousand times a batch

    def _load(self) -> Any:
        if self._there is None:
            if self._module == "transformers" and self._module not in sys.modules:
                _without_advice_on_bars()
            module = import_module(self._module)
            self._there = module if self._name is None else getattr(module, self._name)
        return self._there

    def __getattr__(self, name: str) -> Any:
        there = self._load()
        try:
            return getattr(there, name)
        except AttributeError:
            if self._name is not None or name.startswith("__"):
                raise
            try:
                return import_module(f"{self._module}.{name}")  # a module in it that nobody has imported yet
            except ModuleNotFoundError as error:
                raise AttributeError(f"module {self._module!r} has no attribute {name!r}") from error

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._load()(*given, **named)

    def __instancecheck__(self, instance: object) -> bool:
        """Nothing is an instance of what a module that nobody has imported defines."""
        return self._module in sys.modules and isinstance(instance, self._load())

    def __reduce__(self) -> tuple[type[Later], tuple[str, str | None]]:
        return Later, (self._module, self._name)  # it stands for the same in another process

    def __repr__(self) -> str:
        return f"<{self._module}{f'.{self._name}' if self._name else ''}, when it is used>"


def doors(package: str, rooms: dict[str, str]) -> Callable[[str], Any]:
    """A package's `__getattr__` (PEP 562). `rooms` says which names come from which of its modules, when they are asked for.

    A module without names comes itself. A name stays what it is here when a module is called the same: `headscope.study` is
    the function.

    >>> doors("headscope.text", {"corpus": "Corpus"})("Corpus")
    <class 'headscope.text.corpus.Corpus'>
    """
    names = {name: module for module, inside in rooms.items() for name in inside.split()}

    class Package(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            if not (name in names and isinstance(value, ModuleType)):
                super().__setattr__(name, value)

        def __dir__(self) -> list[str]:
            return sorted({*super().__dir__(), *names, *rooms})

    def through(name: str) -> Any:
        if name not in names:
            if rooms.get(name) == "":
                return import_module(f"{package}.{name}")
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{names[name]}"), name)
        setattr(sys.modules[package], name, found)  # asked for once
        return found

    sys.modules[package].__class__ = Package
    return through


def _without_advice_on_bars() -> None:
    """tqdm, imported before transformers imports it: in a notebook without ipywidgets it warns then, of bars in plain text.

    Nobody who opens a model has asked for bars; transformers' own are kept quiet (lens/quiet.py).
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module("tqdm.auto")


def _without_torchaos_news() -> None:
    """What torchao logs when transformers imports it, which it does wherever torchao is installed.

    Libraries for other graphics cards that it cannot load, and a deprecation of its own: nothing that a reader of heads can
    act on, on stderr or in a notebook's first cell. Every other word of these loggers comes through.
    """
    for logger, news in (("torchao", "Failed to load "), ("torch.utils._pytree", "register_constant() on Enum")):
        logging.getLogger(logger).addFilter(partial(_is_other_news, news))


def _is_other_news(news: str, record: logging.LogRecord) -> bool:
    return news not in record.getMessage()


_without_torchaos_news()

if TYPE_CHECKING:
    import huggingface_hub.constants
    import matplotlib.artist
    import matplotlib.collections
    import matplotlib.colors
    import matplotlib.font_manager
    import matplotlib.ft2font
    import matplotlib.image
    import matplotlib.lines
    import matplotlib.patches
    import matplotlib.text
    import matplotlib.textpath
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq
    import scipy.cluster.hierarchy
    import scipy.spatial.distance
    import sklearn.manifold
    import sklearn.metrics
    import torch
    import transformers.models.auto.modeling_auto
    import transformers.utils.logging
    from matplotlib import ticker
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
    from scipy import stats
    from torch import Tensor, nn
    from transformers import PreTrainedModel
else:
    matplotlib, ticker, scipy, sklearn = Later("matplotlib"), Later("matplotlib.ticker"), Later("scipy"), Later("sklearn")
    huggingface_hub = Later("huggingface_hub")
    pd, pa, pq = Later("pandas"), Later("pyarrow"), Later("pyarrow.parquet")
    stats = Later("scipy.stats")
    torch, nn, Tensor = Later("torch"), Later("torch.nn"), Later("torch", "Tensor")
    transformers, PreTrainedModel = Later("transformers"), Later("transformers", "PreTrainedModel")
    Figure, Rectangle = Later("matplotlib.figure", "Figure"), Later("matplotlib.patches", "Rectangle")
