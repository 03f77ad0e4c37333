"""A pass that starts in the middle: what the layers before returned is kept, and given again to several copies of a batch.

A layer is a child of a list of modules that has attention in it. Whether a model can be resumed is not taken for granted:
`Layers.resumes` asks it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from headscope.lens.watching.normalisation import is_near
from headscope.lens.watching.trace import TracedSite

_CLOSE = 1e-4


class Layers:
    """The layers of a model in the order in which they run, and what each has returned for one batch."""

    def __init__(self, model: nn.Module, sites: Sequence[TracedSite]) -> None:
        names = dict(model.named_modules())
        self._found = _layers(names, [found.site.module for found in sites])
        self._of_site = {found.site.index: _layer_of(names, found.site.module) for found in sites}
        self.order: list[nn.Module] = []  # none where a model cannot be resumed
        self._kept: dict[nn.Module, Any] = {}
        self._size = 0

    def start_of(self, site: int) -> int:
        """How many layers come before the one that a site is in."""
        layer = self._of_site[site]
        return self.order.index(layer) if layer in self.order else 0

    @contextmanager
    def keep(self, size: int) -> Iterator[None]:
        """A pass over a batch of `size` texts runs inside, and what its layers return is kept."""
        self._kept, self._size, ran = {}, size, Counter[nn.Module]()

        def keep(module: nn.Module, _: Any, output: Any) -> None:
            ran[module] += 1
            self._kept[module] = output

        with ExitStack() as stack:
            for layer in self._found:
                stack.callback(layer.register_forward_hook(keep).remove)
            yield
        self.order = list(self._kept) if all(times == 1 for times in ran.values()) else []

    @contextmanager
    def resumed(self, start: int, copies: int) -> Iterator[None]:
        """A pass over the batch `copies` times, one after the other, begins behind the first `start` layers."""
        with ExitStack() as stack:
            for layer in self.order[:start]:
                _replace_forward(stack, layer, partial(self._again, layer, copies))
            yield

    def resumes(self, run: Callable[[], Tensor], expected: Tensor) -> bool:
        """Whether starting behind half of the layers, and behind all but one, gives what all gave; else never again."""
        for start in {len(self.order) // 2, len(self.order) - 1} - {-1, 0}:
            with self.resumed(start, 1):
                try:
                    same = is_near(run(), expected, _CLOSE)
                except Exception:  # whatever a stranger's forward pass may raise
                    same = False
            if not same:
                self._found, self.order = [], []
                return False
        return bool(self.order)

    def _again(self, layer: nn.Module, copies: int, *_: Any, **__: Any) -> Any:
        return _repeated(self._kept[layer], self._size, copies)


def _repeated(output: Any, size: int, copies: int) -> Any:
    """Every tensor of a layer's output that has a row a text, for so many copies of the texts."""
    if isinstance(output, Tensor):
        return output.repeat(copies, *(1 for _ in output.shape[1:])) if output.dim() and output.shape[0] == size else output
    if isinstance(output, (tuple, list)):
        return type(output)(_repeated(one, size, copies) for one in output)
    return output


def _replace_forward(stack: ExitStack, layer: nn.Module, forward: Callable[..., Any]) -> None:
    own = vars(layer).get("forward")
    vars(layer)["forward"] = forward
    if own is None:
        stack.callback(vars(layer).pop, "forward")
    else:
        stack.callback(vars(layer).__setitem__, "forward", own)


def _layer_of(names: dict[str, nn.Module], site: str) -> nn.Module | None:
    """The outermost child of a list of modules on the way to a site."""
    parts = site.split(".")
    for end in range(1, len(parts) + 1):
        if isinstance(names[".".join(parts[: end - 1])], nn.ModuleList):
            return names[".".join(parts[:end])]
    return None


def _layers(names: dict[str, nn.Module], sites: Sequence[str]) -> list[nn.Module]:
    """Every child of the lists that have a layer with attention in them: hybrid models have others beside."""
    with_attention = {layer for site in sites if (layer := _layer_of(names, site)) is not None}
    lists = [module for module in names.values() if isinstance(module, nn.ModuleList) and with_attention & set(module)]
    return list(dict.fromkeys(layer for module in lists for layer in module))


def repeated_inputs(inputs: dict[str, Tensor], copies: int) -> dict[str, Tensor]:
    """The same batch so many times."""
    return {name: torch.cat([tensor] * copies) for name, tensor in inputs.items()}
