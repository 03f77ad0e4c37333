"""The direct path: from what is added to the residual stream to the model's output, past everything that reads the stream.

A pass in which autograd keeps that path alone. Whatever a linear layer (or any other product) reads of the stream is cut
off: so attention and MLPs are constants, which join the stream where they are added to it. Normalisations keep their gain
and their centring, and their scale is held fixed; activation functions behind the stream (the transform of a masked-LM head)
keep their slope from zero, f(x) / x, fixed. What is left is linear: the output is the sum over all that has joined of
<gradient, what has joined>. No table of architectures is needed, and the sum proves it for each.
"""

import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from headscope.errors import ModelError
from headscope.lens.site import Site
from headscope.lens.watching.linear import CLOSE, CLOSE_IN_HALF
from headscope.lens.watching.normalisation import Normalisation, looks_like_one, recognise
from headscope.lens.watching.products import MATRIX_PRODUCTS
from headscope.lens.watching.trace import Trace

_READING = MATRIX_PRODUCTS | {
    F.linear, torch.mm, Tensor.mm, torch.mv, Tensor.mv, torch.addmm, Tensor.addmm, torch.baddbmm, Tensor.baddbmm,
    torch.einsum, F.conv1d, torch.conv1d, F.scaled_dot_product_attention, torch.Tensor.__rmatmul__,
} | {getattr(torch, name) for name in ("_grouped_mm",) if hasattr(torch, name)}  # fmt: skip
_ADDING = {
    torch.add, Tensor.add, Tensor.__add__, Tensor.__radd__, Tensor.add_, Tensor.__iadd__,
    torch.sub, Tensor.sub, Tensor.__sub__, Tensor.__rsub__, Tensor.sub_, Tensor.__isub__,
}  # fmt: skip
_OPERATORS = {Tensor.__iadd__: Tensor.__add__, Tensor.__isub__: Tensor.__sub__}  # `mlp += attention`: the name is bound anew
_ACTIVATIONS = {
    F.gelu, F.relu, F.silu, F.leaky_relu, F.elu, F.mish, F.tanh, torch.relu, torch.tanh, Tensor.relu, Tensor.tanh,
}  # fmt: skip
_GATING = {torch.erf, Tensor.erf, torch.sigmoid, Tensor.sigmoid, F.sigmoid}  # x * erf(x), x * sigmoid(x), spelled out


@dataclass(frozen=True)
class Joined:
    """Something that was added to the stream: its leaf in the pass, and where it came from."""

    leaf: Tensor
    module: str  # the module that made it, or has it as its bias
    is_bias: bool
    behind: bool  # whether it joined behind the last layer
    site: Site | None = None  # of which it is what W_O returned
    given: Tensor | None = None  # what W_O read, where it reads more than the heads
    order: int = 0  # how many attentions had joined before
    channels_first: bool = False  # (batch, d, row)


class DirectPath(TorchFunctionMode):
    """Watches one differentiable pass, and keeps the direct path in it. `joined` says what is at its beginnings."""

    def __init__(self, model: nn.Module, traced: Trace, embeddings: nn.Module | None, unembedding: nn.Module | None) -> None:
        super().__init__()
        self.joined: list[Joined] = []
        self.unknown: list[str] = []  # normalisations on the path that are none that is known
        self._model = model
        self._names = {module: name for name, module in model.named_modules()}
        self._embeddings = {embeddings}
        self._unembedding = unembedding
        self._sites: dict[nn.Module, list[Any]] = {}
        for found in traced.sites:
            if found.projection is not None:
                self._sites.setdefault(found.projection.module, []).append(found)
        self._calls: Counter[nn.Module] = Counter()
        self._last_layer = _stack_of(model, self._names, traced)
        self._behind = False
        self._paused = False
        self._given: list[Tensor | None] = []  # what the normalisations and activations that are running have read
        self._made_by: dict[int, tuple[weakref.ref[Tensor], str]] = {}
        self._attentions = 0

    @contextmanager
    def watch(self) -> Iterator[None]:
        with ExitStack() as stack:
            for module, name in self._names.items():
                if module in self._embeddings:
                    stack.callback(module.register_forward_hook(self._embedded).remove)
                elif looks_like_one(module) and not any(True for _ in module.children()):
                    stack.callback(module.register_forward_pre_hook(self._before).remove)
                    stack.callback(module.register_forward_hook(self._after_norm, always_call=True).remove)
                elif _has_nothing(module):
                    stack.callback(module.register_forward_pre_hook(self._before_activation).remove)
                    stack.callback(module.register_forward_hook(self._after_activation, always_call=True).remove)
                elif module in self._sites:
                    stack.callback(module.register_forward_hook(self._projected).remove)
                if name:
                    stack.callback(module.register_forward_hook(self._ended).remove)
            stack.enter_context(self)
            yield

    # What modules do

    def _before(self, module: nn.Module, given: Any) -> Any:
        """Its own computation is not followed: what runs after it says what it is."""
        followed = bool(given) and _on_path(given[0])
        self._given.append(given[0] if followed else None)
        return (given[0].detach(), *given[1:]) if followed else None

    def _after_norm(self, module: nn.Module, _: Any, output: Any) -> Any:
        given = self._given.pop()
        if given is None or not isinstance(output, Tensor):
            return None
        tolerance = CLOSE_IN_HALF if output.dtype in (torch.float16, torch.bfloat16) else CLOSE
        norm = recognise(module, given.detach().float(), output.detach().float(), tolerance)
        if norm is None:
            self.unknown.append(self._names[module])
            return None
        with self._alone():
            return self._held(norm, given, output)

    def _before_activation(self, module: nn.Module, given: Any) -> Any:
        return self._before(module, given if self._behind else ())

    def _after_activation(self, module: nn.Module, _: Any, output: Any) -> Any:
        given = self._given.pop()
        if given is None or not isinstance(output, Tensor) or output.shape != given.shape:
            return None
        with self._alone():
            return _from_zero(given, output.detach())

    def _held(self, norm: Normalisation, given: Tensor, output: Tensor) -> Tensor:
        """The module's own numbers, with the gradient of a linear map."""
        wide = given.float()
        held = norm.linear(wide) / norm.scale(wide).detach()
        if isinstance(norm.bias, Tensor):
            held = held + self._join(norm.bias.expand_as(held), self._names[norm.module], is_bias=True)
        return (held + (output.detach().float() - held).detach()).to(output.dtype)

    def _projected(self, module: nn.Module, given: Any, output: Tensor) -> Tensor:
        """W_O: what it returned joins the stream, wherever it is added to it."""
        self._check_alone(module, output)
        found = self._sites[module][self._calls[module] % len(self._sites[module])]
        self._calls[module] += 1
        self._attentions += 1
        beside = given[0].shape[-1] != found.site.heads * found.site.head_size
        with self._alone():
            return self._join(output, self._names[module], site=found.site, given=given[0].detach() if beside else None)

    def _embedded(self, module: nn.Module, _: Any, output: Tensor) -> Tensor:
        self._check_alone(module, output)
        with self._alone():
            return self._join(output, self._names[module])

    def _check_alone(self, module: nn.Module, output: Any) -> None:
        """I-BERT's layers return how their output is scaled as well, and its sums and norms are of both."""
        if not isinstance(output, Tensor):
            raise ModelError(
                f"{type(self._model).__name__}: {self._names[module]} returns more than its output, so what is added to the "
                "residual stream cannot be followed, and nothing can be said of the parts of a logit."
            )

    def _ended(self, module: nn.Module, _: Any, output: Any) -> None:
        """A module has ended: what it returns is known by its name."""
        first = output[0] if isinstance(output, tuple) and output else output
        if isinstance(first, Tensor):
            self._name(first, self._names[module])
        if module is self._last_layer:
            self._behind = True

    # What functions do

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._paused:
            return func(*args, **kwargs)
        tensors = [one for one in _flat((*args, *kwargs.values())) if isinstance(one, Tensor)]
        if any(one.requires_grad for one in tensors):
            return self._on_path(func, args, kwargs)
        result = func(*args, **kwargs)
        if isinstance(result, Tensor) and result.is_floating_point():
            made_by = {name for one in tensors if (name := self._maker(one)) is not None}
            if len(made_by) == 1:
                self._name(result, made_by.pop())
        return result

    def _on_path(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        reads = func in _READING and not (self._behind or self._unembeds(args))
        if reads or (func in _GATING and self._behind):
            args, kwargs = _cut(args), dict(zip(kwargs, _cut(kwargs.values()), strict=True))
        elif func is F.linear:
            return self._linear(*args, **kwargs)
        elif func in _ACTIVATIONS and self._behind:
            return _from_zero(args[0] if args else kwargs["input"], func(*_cut(args), **kwargs))
        elif func in _ADDING and len(args) == 2 and not kwargs:
            func, args = self._added(func, *args)
        return func(*args, **kwargs)

    def _added(self, func: Any, one: Any, other: Any) -> tuple[Any, tuple[Any, Any]]:
        """A sum and its two sides; a side that is not on the path joins it here."""
        if not (isinstance(one, Tensor) and isinstance(other, Tensor)) or _on_path(one) == _on_path(other):
            return func, (one, other)
        shape = torch.broadcast_shapes(one.shape, other.shape)
        if not _on_path(other):
            return func, (one, self._join(other.expand(shape), self._maker(other)))
        joined = self._join(one.expand(shape), self._maker(one))
        return _OPERATORS.get(func, func), (joined, other)

    def _linear(self, given: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """A linear layer behind the stream: the path goes through, and its bias joins."""
        self._behind = True
        result = F.linear(given, weight)
        return result if bias is None else result + self._join(bias.expand_as(result), "", is_bias=True)

    def _unembeds(self, args: Any) -> bool:
        weight = getattr(self._unembedding, "weight", None)
        return weight is not None and any(one is weight for one in args)

    # What joins

    def _join(
        self,
        vectors: Tensor,
        module: str | None,
        *,
        is_bias: bool = False,
        site: Site | None = None,
        given: Tensor | None = None,
    ) -> Tensor:
        leaf = vectors.detach().clone().requires_grad_()
        channels_first = site is not None and isinstance(self._model.get_submodule(str(module)), nn.Conv1d)
        self.joined.append(Joined(leaf, module or "", is_bias, self._behind, site, given, self._attentions, channels_first))
        return leaf * 1  # not the leaf itself: models add to it in place

    def _maker(self, tensor: Tensor) -> str | None:
        reference, name = self._made_by.get(id(tensor), (None, None))
        return name if reference is not None and reference() is tensor else None

    def _name(self, tensor: Tensor, name: str) -> None:
        self._made_by[id(tensor)] = (weakref.ref(tensor), name)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """What we compute ourselves is not followed."""
        self._paused = True
        try:
            yield
        finally:
            self._paused = False


def _on_path(tensor: Any) -> bool:
    return isinstance(tensor, Tensor) and tensor.requires_grad


def _has_nothing(module: nn.Module) -> bool:
    """Neither parameters nor parts: an activation function, a dropout."""
    return not any(True for _ in module.parameters()) and not any(True for _ in module.children())


def _flat(arguments: Any) -> Iterator[Any]:
    for argument in arguments:
        if isinstance(argument, (list, tuple)):
            yield from argument
        else:
            yield argument


def _cut(arguments: Any) -> list[Any]:
    """The same numbers, off the path."""
    return [
        one.detach() if isinstance(one, Tensor) else [*map(_off, one)] if isinstance(one, (list, tuple)) else one
        for one in arguments
    ]


def _off(one: Any) -> Any:
    return one.detach() if isinstance(one, Tensor) else one


def _from_zero(given: Tensor, result: Tensor) -> Tensor:
    """f(x) as x times its slope from zero, f(x) / x, which is held fixed; f(0) is 0 for the functions that are meant."""
    slope = (result / given).detach()
    return given * slope.where(slope.isfinite(), 0)


def _stack_of(model: nn.Module, names: dict[nn.Module, str], traced: Trace) -> nn.Module | None:
    """The module that runs the last attention's layers one after another: when it ends, the head begins."""
    path = traced.sites[-1].site.module.split(".")
    digit = next((place for place, part in enumerate(path) if part.isdigit()), len(path))
    by_name = {name: module for module, name in names.items()}
    for stop in range(digit, 0, -1):
        found = by_name.get(".".join(path[:stop]))
        if found is not None and not isinstance(found, (nn.ModuleList, nn.ModuleDict)):
            return found
    return None
