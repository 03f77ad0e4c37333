"""The second way in, for architectures outside the attention interface: watch the functions that they call.

Inside an attention module the weights are what a softmax returns, followed through dropout, casts and
reshapes until a matrix product multiplies them with the values. A call of PyTorch's fused attention is
seen as well, and its weights are computed from the same query, key and mask. Queries and keys are the
operands of the product that the softmax's argument was made of (products.py).
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from headscope.lens.watching.products import MATRIX_PRODUCTS, MadeOfProducts, Product, einsum_operands, queries_and_keys

_SOFTMAX = {torch.softmax, F.softmax, Tensor.softmax}
_LOGSUMEXP = {torch.logsumexp, Tensor.logsumexp}
_FUSED = F.scaled_dot_product_attention


@dataclass
class SeenAttention:
    """One attention as seen from its functions, in the lens's own order of dimensions."""

    rows: Callable[[int, int], Tensor]  # (start, stop) -> weights (batch, head, row, key)
    values: Tensor  # batch head key d_head
    output: Tensor  # batch query head d_head
    differentiated: Tensor  # the tensor of the model's own pass from whose gradient that of the weights follows
    gradients: Callable[[Tensor, slice], Tensor]  # (its gradient, rows) -> that of the weights (batch, head, row, key)
    result: Tensor  # the output, as the model goes on with it
    arranged: Callable[[Tensor], Tensor]  # (batch, query, head, d_head) -> as the model has it
    query: Tensor | None = None  # batch head query d, as the model multiplies them
    key: Tensor | None = None  # batch group key d

    @property
    def length(self) -> int:
        return self.output.shape[1]


@dataclass
class Softmax:
    """Where a softmax ran, and whether its result was seen to multiply values."""

    stack: list[nn.Module]
    shape: torch.Size
    read: bool = False
    named: bool = True  # False where only its denominator was seen: exp(x - logsumexp(x)) is one too, as Reformer writes it
    products: tuple[Product, ...] = ()  # what it was made of, until its module ends
    compares: bool = True  # False where no queries were multiplied with keys: the kernel of a convolution, a router's shares

    def is_of_tokens(self, tokens: Collection[int]) -> bool:
        """Whether there is one for each token, as in a router, and none for its heads."""
        return self.shape[:-1].numel() in tokens or (not self.named and self.shape.numel() in tokens)


class FunctionTracer(TorchFunctionMode):
    """Calls `seen(module, attended)` for every attention inside the modules on `stack`.

    The module is the innermost one that holds both the softmax and the product. What `seen` computes is not followed: a
    mode is off while it handles a function.
    """

    def __init__(self, batch_size: int, seen: Callable[[nn.Module, SeenAttention], None]) -> None:
        super().__init__()
        self.batch_size = batch_size
        self.seen = seen
        self.stack: list[nn.Module] = []
        self.paused = False
        self.anchor: Tensor | None = None  # a zero with a gradient, where the pass is to be differentiated
        self.softmaxes: list[Softmax] = []
        self._held_from = 0  # the first softmax of this module, which may hold products
        # The tensors are held, so that an id is not used twice.
        self._followed: dict[int, tuple[Tensor, Softmax]] = {}
        self._made = MadeOfProducts()

    @contextmanager
    def inside(self, modules: Collection[nn.Module]) -> Iterator[None]:
        """Look on while these modules run; without any, nothing is looked at, and nothing gets slower."""
        with ExitStack() as stack:
            for module in modules:
                stack.callback(module.register_forward_pre_hook(lambda module, _: self.stack.append(module)).remove)
                stack.callback(module.register_forward_hook(self._leave_module, always_call=True).remove)
            if modules:
                stack.enter_context(self)
            yield

    def _leave_module(self, module: nn.Module, *_: Any) -> None:
        self.stack.pop()
        if not self.stack:
            for softmax in self.softmaxes[self._held_from :]:
                softmax.products = ()
            self._held_from = len(self.softmaxes)
            self._followed.clear()
            self._made.clear()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if self.paused or not self.stack:
            return result
        if self.anchor is not None and (func in _SOFTMAX or func is _FUSED) and not result.requires_grad:
            result = result + self.anchor
        if func in _SOFTMAX:
            products = self._made.of(args[0] if args else kwargs["input"])
            self.softmaxes.append(Softmax(list(self.stack), result.shape, products=products, compares=bool(products)))
            self._followed[id(result)] = (result, self.softmaxes[-1])
        elif func in _LOGSUMEXP:
            self.softmaxes.append(Softmax(list(self.stack), result.shape, named=False))
        elif func is _FUSED:
            self._emit(fused(*args, **kwargs, output=result), None)
        else:
            self._made.follow(func, args, kwargs, result)
            if isinstance(result, Tensor) and result.is_floating_point():
                self._follow(func, args, result)
        return result

    def _follow(self, func: Any, args: Any, result: Tensor) -> None:
        if func is torch.einsum:
            equation, operands = einsum_operands(args)
            if origin := self._origin(operands[0]):
                self._emit(from_einsum(equation, operands[0], operands[1], result, self.batch_size), origin)
        elif func in MATRIX_PRODUCTS:
            if origin := self._origin(args[0]):
                self._emit(from_product(args[0], args[1], result, self.batch_size), origin)
        elif func is F.linear:
            pass  # weights go through none; what a router's shares scaled does
        elif origin := next(filter(None, map(self._origin, args)), None):
            self._followed[id(result)] = (result, origin)

    def _origin(self, argument: Any) -> Softmax | None:
        return self._followed.get(id(argument), (None, None))[1]

    def _emit(self, attended: SeenAttention | None, origin: Softmax | None) -> None:
        if attended is None:
            return
        owner = self.stack[-1]
        if origin is not None:
            origin.read = True
            shape = self.batch_size, attended.output.shape[2], attended.length, attended.values.shape[2]
            attended.query, attended.key = queries_and_keys(origin.products, *shape)
            owner = [here for here, there in zip(self.stack, origin.stack, strict=False) if here is there][-1]
        self.seen(owner, attended)


def from_product(weights: Tensor, values: Tensor, output: Tensor, batch_size: int) -> SeenAttention | None:
    """(batch, head, ...) or (batch * head, ...) operands of a matrix product."""
    seen, result = weights, output
    if weights.dim() == 3 and values.dim() == 3 and weights.shape[0] % batch_size == 0:
        weights, values, output = (t.reshape(batch_size, -1, *t.shape[1:]) for t in (weights, values, output))
    if weights.dim() != 4 or values.dim() != 4 or weights.shape[0] != batch_size:
        return None

    def gradients(gradient: Tensor, rows: slice) -> Tensor:
        return gradient.reshape(weights.shape)[:, :, rows]

    def arranged(output: Tensor) -> Tensor:
        return output.transpose(1, 2).reshape(result.shape)

    return SeenAttention(_slices(weights), values.float(), output.transpose(1, 2), seen, gradients, result, arranged)


def from_einsum(equation: str, weights: Tensor, values: Tensor, output: Tensor, batch_size: int) -> SeenAttention | None:
    """Operands named by letters, as XLNet writes them: `bnij,jbnd->ibnd`."""
    inputs, _, letters = equation.partition("->")
    left, _, right = inputs.partition(",")
    shared = [letter for letter in left if letter in right and letter in letters]
    key = [letter for letter in left if letter in right and letter not in letters]
    query = [letter for letter in left if letter not in right and letter in letters]
    size = [letter for letter in right if letter not in left and letter in letters]
    if not (len(shared) == 2 and len(key) == len(query) == len(size) == 1):
        return None
    sizes = dict(zip(left, weights.shape, strict=True))
    batch = next((letter for letter in shared if sizes[letter] == batch_size), None)
    if batch is None:
        return None
    head = next(letter for letter in shared if letter != batch)
    order = f"{left}->{batch}{head}{query[0]}{key[0]}"
    ours = f"{batch}{query[0]}{head}{size[0]}"
    seen, weights = weights, torch.einsum(order, weights)
    values = torch.einsum(f"{right}->{batch}{head}{key[0]}{size[0]}", values)
    result, output = output, torch.einsum(f"{letters}->{ours}", output)

    def gradients(gradient: Tensor, rows: slice) -> Tensor:
        return torch.einsum(order, gradient)[:, :, rows]

    def arranged(output: Tensor) -> Tensor:
        return torch.einsum(f"{ours}->{letters}", output)

    return SeenAttention(_slices(weights), values.float(), output, seen, gradients, result, arranged)


def fused(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    output: Tensor,
) -> SeenAttention | None:
    """PyTorch's scaled dot-product attention: softmax(q k^T scale + mask), by rows."""
    if query.dim() != 4:
        return None
    query, key, value = query.float(), key.float(), value.float()
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    repeated = key.repeat_interleave(query.shape[1] // key.shape[1], dim=1)

    def rows(start: int, stop: int) -> Tensor:
        scores = query[:, :, start:stop] @ repeated.mT * factor
        if is_causal:
            positions = torch.arange(key.shape[2], device=key.device)
            scores = scores.masked_fill(positions > positions[start:stop, None], float("-inf"))
        if attn_mask is not None:
            mask = attn_mask[..., start:stop, :] if attn_mask.shape[-2] > 1 else attn_mask
            scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else scores + mask
        return scores.softmax(-1).nan_to_num()  # a row of padding may see nothing

    def gradients(gradient: Tensor, rows: slice) -> Tensor:
        """The output is the sum over keys of weight * value: dL / d alpha_ij = dL / d o_i . v_j."""
        return gradient[:, :, rows].float() @ value.repeat_interleave(query.shape[1] // value.shape[1], dim=1).mT

    def arranged(output: Tensor) -> Tensor:
        return output.transpose(1, 2)

    return SeenAttention(rows, value, output.transpose(1, 2), output, gradients, output, arranged, query, key)


def _slices(weights: Tensor) -> Callable[[int, int], Tensor]:
    # A copy: the model may go on with its own tensor, and the lens zeroes the rows of padding.
    return lambda start, stop: weights[:, :, start:stop].float().clone()
