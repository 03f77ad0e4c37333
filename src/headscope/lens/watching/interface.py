"""The first way in: an attention function of ours in transformers' attention interface.

It computes what the model's own eager function computes, block of rows by block of rows, and shows
each block to whoever watches. Soft caps, sinks and position biases stay the model's own business: where its
source says that it has none, plain.py computes the same sooner.
"""

import copy
import math
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, Self

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface

from headscope.lens.watching import plain
from headscope.lens.watching.masks import MaskPart, RowMask, row_mask
from headscope.lens.watching.plain import is_plain, plain_attention

NAME = "headscope"


class AttentionCall:
    """One call of the interface, which can be computed in blocks of query rows."""

    def __init__(
        self, module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, options: dict[str, Any]
    ) -> None:
        self.module = module
        self.dtype = query.dtype
        self._given = query, key, value
        # Half-precision models are measured in float32.
        self.query, self.key, self.value = query.float(), key.float(), value.float()
        self.mask = mask
        self.options = options
        self.own = own_attention(module)

    @property
    def length(self) -> int:
        return self.query.shape[2]

    def rows(self, start: int, stop: int) -> tuple[Tensor, Tensor]:
        """The model's own attention for the query rows `start:stop`: output (batch, row, head, d), weights."""
        if self._is_plain():
            queries, mask = self.query[:, :, start:stop], lambda first, last: self._mask_of(start + first, start + last)
            return plain_attention(queries, self.key, self.value, self.options.get("scaling"), mask)
        output, weights = self.own(
            self.module,
            self.query[:, :, start:stop],
            self.key,
            self.value,
            self._rows_of(self.mask, start, stop),
            **{name: self._rows_of(option, start, stop) for name, option in self.options.items()},
        )
        if weights is None:
            raise RuntimeError(f"{type(self.module).__name__}: the model's eager attention returns no weights")
        return output, weights

    def alone(self) -> Tensor:
        """The output (batch, query, head, d) of the model's own attention in the model's own precision."""
        return _unwatched(self.module, *self._given, self.mask, self.options)[0]

    def inputs(self) -> dict[str, Tensor]:
        """The tensors that gradients flow through: query, key, value, and any mask or bias made of hidden states."""
        others = {"attention_mask": self.mask, **self.options}
        flowing = {name: other for name, other in others.items() if isinstance(other, Tensor) and other.requires_grad}
        return {"query": self.query, "key": self.key, "value": self.value, **flowing}

    def with_inputs(self, inputs: dict[str, Tensor]) -> Self:
        """The same call with other tensors for those of `inputs()`."""
        other = copy.copy(self)
        other.query, other.key, other.value = (inputs[name] for name in ("query", "key", "value"))
        other.mask = inputs.get("attention_mask", self.mask)
        other.options = {name: inputs.get(name, option) for name, option in self.options.items()}
        return other

    def _is_plain(self) -> bool:
        """Whether plain.py computes the same: by the function's source, and by what it is called with."""
        query, key, value, mask = self.query, self.key, self.value, self.mask
        if query.shape[1] * math.prod(self._pairs) < plain.small():
            return False
        if torch.is_grad_enabled() or (self.module.training and self.options.get("dropout")) or not is_plain(self.own):
            return False
        if mask is not None and not (mask.is_floating_point() and mask.dim() == 4 and mask.shape[2:] == self._pairs):
            return False
        repeated = getattr(self.module, "num_key_value_groups", 1)
        return query.shape[1] == repeated * key.shape[1] == repeated * value.shape[1]

    @property
    def _pairs(self) -> tuple[int, int]:
        return self.length, self.key.shape[2]

    def _mask_of(self, start: int, stop: int) -> MaskPart:
        if isinstance(self.mask, RowMask):
            return self.mask.part(start, stop)
        return MaskPart(0, self.key.shape[2], None if self.mask is None else self.mask[:, :, start:stop])

    def _rows_of(self, option: Any, start: int, stop: int) -> Any:
        """The rows of a mask or position bias (..., query, key); anything else as it is."""
        if isinstance(option, RowMask):
            return option.rows(start, stop)
        if isinstance(option, Tensor) and option.dim() >= 3 and option.shape[-2] == self.length > 1:
            return option[..., start:stop, :]
        return option


class Watcher(Protocol):
    """Whoever watches a forward pass: a trace, or a capture."""

    def attend(self, call: AttentionCall) -> tuple[Tensor, None]: ...


_watching = threading.local()


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Show the attention calls of this thread to `watcher`."""
    before = getattr(_watching, "watcher", None)
    _watching.watcher = watcher
    try:
        yield
    finally:
        _watching.watcher = before


def attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
) -> tuple[Tensor, Tensor | None]:
    """The attention function registered as `headscope`."""
    watcher: Watcher | None = getattr(_watching, "watcher", None)
    if watcher is not None:
        return watcher.attend(AttentionCall(module, query, key, value, attention_mask, options))
    return _unwatched(module, query, key, value, attention_mask, options)


def _unwatched(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, options: dict[str, Any]
) -> tuple[Tensor, Tensor | None]:
    whole = mask.whole() if isinstance(mask, RowMask) else mask
    return own_attention(module)(module, query, key, value, whole, **options)


def own_attention(module: nn.Module) -> Callable[..., tuple[Tensor, Tensor | None]]:
    """The eager attention function of the file in which the module's class is defined."""
    for cls in type(module).__mro__:
        own = getattr(sys.modules.get(cls.__module__), "eager_attention_forward", None)
        if own is not None:
            return own
    raise RuntimeError(f"{type(module).__name__}: its source file has no eager attention function")


def register() -> None:
    """Make the name known. Without the mask function, transformers would drop all masks without a word."""
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, row_mask)
