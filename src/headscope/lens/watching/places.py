"""Where each row of a pass stands in its own text: padding on either side, and what a cache has read before, told apart."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from headscope.errors import ModelError


class Places:
    """Looks on as a pass begins, and says for every row which token of its text it is.

    `stacks` are the modules that begin the pass of a stack ("encoder", "decoder"), which are given its ids and its mask.
    """

    def __init__(self, stacks: Mapping[str, nn.Module]) -> None:
        self.stacks = stacks
        self._given: dict[str, Callable[[], tuple[Tensor, Tensor]]] = {}  # asked for by few, so told when asked

    @contextmanager
    def watch(self) -> Iterator[None]:
        with ExitStack() as stack:
            for name, module in self.stacks.items():
                hook = module.register_forward_pre_hook(partial(self._begins, name), with_kwargs=True)
                stack.callback(hook.remove)
            stack.callback(self._given.clear)
            yield

    def of(self, stack: str, z: Tensor) -> tuple[Tensor, Tensor]:
        """(row...,), (row...,): each row's place in its text, -1 at padding, and the length of that text.

        In the order in which z (row..., head, d_head) has its rows: text by text, or all in one line.
        """
        if stack not in self._given:
            raise ModelError("Where a token stands cannot be told here: call the model itself, or its encoder and decoder.")
        places, lengths = self._given[stack]()
        rows = z.shape[:-2]
        if len(rows) == 2 and rows[0] == places.shape[0] and rows[1] > places.shape[1]:  # padded by the model itself
            more = rows[1] - places.shape[1]
            places, lengths = nn.functional.pad(places, (0, more), value=-1), lengths[:, :1].expand(-1, rows[1])
        if rows == places.shape:
            return places, lengths
        if rows == (places.numel(),):
            return places.flatten(), lengths.flatten()
        raise ModelError(f"Rows of shape {tuple(rows)} cannot be told apart by their places in texts: leave out at=.")

    def _begins(self, stack: str, module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        arguments = inspect.signature(module.forward).bind_partial(*given, **named).arguments
        arguments |= arguments.get("kwargs", {})
        past = _past(arguments)  # before the pass adds to it
        self._given[stack] = cache(lambda: _places(arguments, past))


def _places(arguments: Mapping[str, Any], past: int) -> tuple[Tensor, Tensor]:
    read = next(arguments[name] for name in ("input_ids", "inputs_embeds") if arguments.get(name) is not None)
    return places_of(read.shape[:2], arguments.get("attention_mask"), read.device, past)


def places_of(
    shape: tuple[int, int], mask: Tensor | None, device: torch.device | None = None, past: int = 0
) -> tuple[Tensor, Tensor]:
    """(batch, row) twice: each row's place in its text, -1 at padding, and the length of that text.

    A mask may be longer than the rows: what a cache holds comes before them.

    >>> places, lengths = places_of((2, 3), torch.tensor([[0, 1, 1], [1, 1, 1]]))
    >>> places.tolist(), lengths.tolist()
    ([[-1, 0, 1], [0, 1, 2]], [[2, 2, 2], [3, 3, 3]])
    """
    batch, rows = shape
    if mask is None:
        mask = torch.ones(batch, past + rows, dtype=torch.long, device=device)
    if not isinstance(mask, Tensor) or mask.dim() != 2 or mask.shape[1] < rows:
        raise ModelError("Where a token stands cannot be told from this attention mask: give one of (batch, tokens).")
    real = mask.bool()
    places = (real.long().cumsum(1) - 1).masked_fill(~real, -1)[:, -rows:]
    return places, real.sum(1, keepdim=True).expand(batch, rows)


def _past(arguments: Mapping[str, Any]) -> int:
    """How many tokens a cache holds."""
    held: Any = arguments.get("past_key_values")
    return int(held.get_seq_length()) if hasattr(held, "get_seq_length") else 0
