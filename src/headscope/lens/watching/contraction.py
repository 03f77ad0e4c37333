"""Linear layers that are none: a parameter that an einsum multiplies with (XLNet's q, k, v and o), as a layer with hooks.

`torch.einsum("ibnd,hnd->ibh", z, self.o)` is z W_O, with n and d as one dimension. While somebody looks on, such a product
is made by a layer of ours, which has the parameter as its weight; the model itself stays as it is.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from headscope.lens.watching.products import einsum_operands


class Contraction(nn.Module):
    """x (..., in) -> (..., out), as the einsum has it with dimensions taken together."""

    def __init__(self, parameter: nn.Parameter, equation: str) -> None:
        super().__init__()
        self.parameter = parameter
        self.equation = equation
        inputs, _, self.result = equation.partition("->")
        self.left, _, self.right = inputs.partition(",")
        self.summed = [letter for letter in self.left if letter in self.right and letter not in self.result]
        self.made = [letter for letter in self.result if letter not in self.left]
        self.sizes = dict(zip(self.right, parameter.shape, strict=False))
        self.in_features, self.out_features = (prod(map(self._size, some)) for some in (self.summed, self.made))

    def _size(self, letter: str) -> int:
        return self.sizes.get(letter, 1)

    @property
    def is_layer(self) -> bool:
        """Whether it takes together the last dimensions of what it reads, and makes the last of what it returns."""
        rest = [letter for letter in self.left if letter not in self.summed]
        in_order = self.left == "".join(rest + self.summed) and self.result == "".join(rest + self.made)
        return in_order and bool(self.summed and self.made) and set(self.right) == {*self.summed, *self.made}

    @property
    def weight(self) -> Tensor:
        """(out, in)"""
        arranged = torch.einsum(f"{self.right}->{''.join(self.made + self.summed)}", self.parameter)
        return arranged.flatten(0, len(self.made) - 1).flatten(1)

    def forward(self, vectors: Tensor) -> Tensor:
        operand = vectors.unflatten(-1, [self._size(letter) for letter in self.summed])
        return torch.einsum(self.equation, operand, self.parameter).flatten(-len(self.made))

    def of_operand(self, left: Tensor) -> Tensor:
        """The einsum's result, made by this layer."""
        return self(left.flatten(-len(self.summed))).unflatten(-1, [self._size(letter) for letter in self.made])


class Contractions(TorchFunctionMode):
    """Lets `layer_for(parameter, equation)` say which layer makes a product; None leaves it to the einsum."""

    def __init__(self, layer_for: Callable[[nn.Parameter, str], Contraction | None]) -> None:
        super().__init__()
        self.layer_for = layer_for

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.einsum:
            equation, operands = einsum_operands(args)
            if len(operands) == 2 and isinstance(operands[1], nn.Parameter):
                layer = self.layer_for(operands[1], equation)
                if layer is not None:
                    return layer.of_operand(operands[0])
        return func(*args, **(kwargs or {}))


@contextmanager
def seen_by_hooks(modules: Iterable[nn.Module]) -> Iterator[None]:
    """Let the layers among these that are none run as layers, so that hooks on them are called."""
    known = {id(layer.parameter): layer for layer in modules if isinstance(layer, Contraction)}
    if not known:
        yield
        return
    with Contractions(lambda parameter, _: known.get(id(parameter))):
        yield
