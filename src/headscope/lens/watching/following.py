"""What a model does with an attention's output before W_O reads it, followed function by function.

A gate multiplies it, a norm divides it, heads are moved, cut, subtracted. Every function that is linear in the output is
kept with its other arguments, and can be run again with something else in the output's place: with ones, the factors of a
gate come out. What is computed from the output in any other way (the scale of a norm, say) counts as given.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

# Names of torch's functions and of its tensors' methods.
_MOVES = frozenset(
    [
        *("view", "reshape", "transpose", "permute", "contiguous", "flatten", "unflatten", "squeeze", "unsqueeze", "clone"),
        *("view_as", "reshape_as", "expand", "expand_as", "movedim", "swapaxes", "swapdims", "chunk", "split"),
        *(
            "tensor_split",
            "unbind",
            "narrow",
            "select",
            "__getitem__",
            "dropout",
            "repeat_interleave",
            "neg",
            "__neg__",
            "sum",
        ),
    ]
)
_CASTS = frozenset(["to", "float", "type", "type_as", "half", "bfloat16", "double"])
_PRODUCTS = frozenset(["mul", "multiply", "__mul__", "__rmul__", "mul_", "__imul__"])
_QUOTIENTS = frozenset(["div", "divide", "true_divide", "__truediv__", "div_", "__itruediv__"])
# These mix rows: they are followed from values to weighted sums of them.
_MIXES = frozenset(
    ["matmul", "bmm", "__matmul__", "einsum", "pad", "as_strided", "unfold", "flip", "roll", "gather", "index_select"]
)
_PAIRED = frozenset(["matmul", "bmm", "__matmul__", "einsum"])
_SUMS = frozenset(["add", "sub", "subtract", "__add__", "__radd__", "__sub__", "__rsub__", "cat", "concat", "stack"])
# What works in place changes a tensor that the model has no more use for; here, it is run again.
_NOT_IN_PLACE: dict[str, Callable[..., Any]] = {
    "mul_": torch.mul,
    "__imul__": torch.mul,
    "div_": torch.div,
    "__itruediv__": torch.div,
}


@dataclass(frozen=True, eq=False)
class Step:
    """A tensor that is linear in the outputs of attentions: one of them (no function), or a function of other steps."""

    func: Callable[..., Any] | None = None
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    place: int | None = None  # which of the function's results
    shape: tuple[int, ...] = ()  # of an attention's output

    @cached_property
    def origins(self) -> frozenset["Step"]:
        """The outputs that it is made of."""
        if self.func is None:
            return frozenset({self})
        return frozenset().union(*(step.origins for step in _steps_in((*self.args, *self.kwargs.values()))))

    def again(self, origin: "Step", output: Tensor) -> Tensor:
        """What it would be if `origin` were this output, and all others zero; nothing is rounded on the way."""
        others = {other: output.new_zeros(other.shape) for other in self.origins - {origin}}
        return self._again({origin: output, **others})

    def _again(self, known: dict["Step", Tensor]) -> Tensor:
        if self not in known:
            name = _name(self.func)
            args = [_replaced(one, known) for one in self.args]
            if name in _PAIRED:
                args = [_exact(one) for one in args]
            if name in _CASTS:
                result = args[0]
            else:
                kwargs = {key: _replaced(one, known) for key, one in self.kwargs.items()}
                result = _NOT_IN_PLACE.get(name, self.func)(*args, **kwargs)  # type: ignore[misc]
            known[self] = result if self.place is None else result[self.place]
        return known[self]


class Follower(TorchFunctionMode):
    """Follows the outputs of attentions from `begin` to `forget`; in between and without, it only looks on."""

    def __init__(self, mixing: bool = False) -> None:
        super().__init__()
        self.mixing = mixing  # whether it goes on where rows are mixed
        # The tensors are held, so that an id is not used twice.
        self._known: dict[int, tuple[Tensor, Step]] = {}

    def begin(self, output: Tensor, of: tuple[tuple[int, ...], Callable[[Tensor], Tensor]] | None = None) -> Step:
        """Follow this tensor; or, where `of` gives a shape and a function, the one that it is made of."""
        step = Step(shape=output.shape if of is None else of[0])
        self._known[id(output)] = (output, step if of is None else Step(of[1], (step,)))
        return step

    def step_of(self, tensor: Any) -> Step | None:
        """How a tensor was made of outputs; None where it was not, or not by linear functions alone."""
        return self._known.get(id(tensor), (None, None))[1]

    def forget(self) -> None:
        self._known.clear()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if self._known:
            self._follow(func, args, kwargs, result)
        return result

    def _follow(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        given = tuple(self._with_steps(one) for one in args), {key: self._with_steps(one) for key, one in kwargs.items()}
        steps = list(_steps_in((*given[0], *given[1].values())))
        if not steps:
            return
        if _name(func) == "rms_norm" and given[0][:1] == (steps[0],):
            factor = _rms_factor(*args, **kwargs)
            self._known[id(result)] = (result, Step(torch.mul, (steps[0], factor)))
        elif _is_linear(_name(func), given[0], steps) or (self.mixing and _mixes(_name(func), given[0], steps)):
            several = isinstance(result, (list, tuple))
            for place, tensor in enumerate(result if several else [result]):
                self._known[id(tensor)] = (tensor, Step(func, *given, place if several else None))
        elif isinstance(result, Tensor) and any(result is one for one in args):
            self._known.pop(id(result), None)  # changed in place

    def _with_steps(self, argument: Any) -> Any:
        if isinstance(argument, (list, tuple)):
            return type(argument)(map(self._with_steps, argument)) if type(argument) in (list, tuple) else argument
        return (self.step_of(argument) or argument) if isinstance(argument, Tensor) else argument


def _is_linear(name: str, args: tuple[Any, ...], steps: list[Step]) -> bool:
    if name in _MOVES or name in _CASTS:
        return len(steps) == 1 and bool(args) and args[0] is steps[0]
    if name in _PRODUCTS:
        return len(steps) == 1
    if name in _QUOTIENTS:
        return len(steps) == 1 and bool(args) and args[0] is steps[0]
    # A sum with anything else has a part that is no token's.
    return name in _SUMS and len(steps) == sum(1 for one in _flat(args) if isinstance(one, (Step, Tensor, float)))


def _mixes(name: str, args: tuple[Any, ...], steps: list[Step]) -> bool:
    if name in ("cat", "concat", "stack"):  # with zeros, as padding
        others = [one for one in _flat(args) if isinstance(one, Tensor)]
        return not any(bool(other.any()) for other in others)
    return name in _MIXES and len(steps) == 1


def _rms_factor(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """What torch's RMSNorm multiplies its input with, the scale being given."""
    given = input.detach().float()
    dims = tuple(range(-len(normalized_shape), 0))
    eps = torch.finfo(input.dtype).eps if eps is None else eps
    factor = (given.square().mean(dims, keepdim=True) + eps).rsqrt()
    return factor if weight is None else factor * weight.detach().float()


def _name(func: Any) -> str:
    return getattr(func, "__name__", "")


def _flat(arguments: Iterable[Any]) -> Iterator[Any]:
    for argument in arguments:
        if isinstance(argument, (list, tuple)):
            yield from argument
        else:
            yield argument


def _steps_in(arguments: Iterable[Any]) -> Iterator[Step]:
    return (one for one in _flat(arguments) if isinstance(one, Step))


def _exact(argument: Any) -> Any:
    """Half precision as float32, which it is multiplied with."""
    if isinstance(argument, (list, tuple)):
        return [_exact(one) for one in argument]
    return argument.float() if isinstance(argument, Tensor) and argument.is_floating_point() else argument


def _replaced(argument: Any, known: dict[Step, Tensor]) -> Any:
    if isinstance(argument, (list, tuple)) and any(isinstance(one, Step) for one in argument):
        return [_replaced(one, known) for one in argument]
    return argument._again(known) if isinstance(argument, Step) else argument
