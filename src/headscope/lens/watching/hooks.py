"""Hooks that a model's own pass leaves behind: transformers puts some on for output_attentions, and never takes them off."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

_INSTALLED = "_output_capturing_hooks_installed"  # transformers' own mark of a model that has them


@contextmanager
def hooks_as_they_were(model: nn.Module) -> Iterator[None]:
    """Whatever is hooked on inside comes off again, and so does the mark that says so."""
    modules = list(model.modules())
    hooks = [set(module._forward_hooks) for module in modules]
    marked = [_INSTALLED in vars(module) for module in modules]
    try:
        yield
    finally:
        for module, before, had in zip(modules, hooks, marked, strict=True):
            for index in set(module._forward_hooks) - before:
                for kept in (module._forward_hooks, module._forward_hooks_with_kwargs, module._forward_hooks_always_called):
                    kept.pop(index, None)
            if not had:
                vars(module).pop(_INSTALLED, None)
