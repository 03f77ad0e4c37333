"""Compiled models run as they were written while they are read: what is compiled cannot be looked into."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from headscope.later import nn, torch


def compiled_calls(model: nn.Module) -> dict[nn.Module, Any]:
    """What runs instead of the modules that were compiled in place (model.compile())."""
    return {module: call for module in model.modules() if (call := module._compiled_call_impl) is not None}


def eagerly(model: nn.Module) -> Callable[[], AbstractContextManager[Any]]:
    """A context in which parts that torch.compile has wrapped run as they were written; where there are none, nothing."""
    if any(hasattr(module, "_orig_mod") for module in model.modules()):
        return partial(torch.compiler.set_stance, "force_eager")
    return nullcontext
