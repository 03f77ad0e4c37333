"""Linear layers as people hold them: plain, quantised, with an adapter on them, or offloaded to a disk.

A layer is x -> x W + b. W is what its weights say, where they are there and say what the layer does; else it is read by what
the layer does: applied to the identity, less applied to zero. Nothing in the layer is changed for it.
"""

from collections.abc import Hashable
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from headscope.lens.placement import runs_on
from headscope.lens.watching.normalisation import is_near

LINEAR = (nn.Linear, Conv1D, nn.Conv1d)
CLOSE = 1e-4  # relative; what float32 sums in another order may differ by
CLOSE_IN_HALF = 3e-2  # bfloat16 keeps eight bits

HALVES = (torch.bfloat16, torch.float16)  # the coarser one first
_FLOATS = (torch.float32, torch.float64, *HALVES)
_ROWS = 1024  # of the identity at a time
_OVER_BIAS = 64.0  # how much larger than 1 the identity is where there is a bias, so that half precision keeps digits of W


def is_linear_like(module: nn.Module) -> bool:
    """Whether a module may be a linear layer, by what torch calls their sizes, or a wrapper around one (an adapter's)."""
    return isinstance(module, LINEAR) or all(isinstance(getattr(module, name, None), int) for name in _SIZES)


_SIZES = ("in_features", "out_features")


def linear_modules(model: nn.Module) -> list[nn.Module]:
    """Every module that may be a linear layer; what is inside one (an adapter's matrices, its base) is part of it."""
    found = [model] if is_linear_like(model) else []
    return found or [one for child in model.children() for one in linear_modules(child)]


def first_tensor(output: Any) -> Any:
    """What a layer returns, where it returns something beside it (I-BERT's scales)."""
    return output[0] if isinstance(output, tuple) and output else output


def dequantised(weight: Tensor) -> Tensor:
    """The numbers that a quantised weight (torchao's) stands for; any other weight as it is."""
    return weight if type(weight).dequantize is Tensor.dequantize else weight.dequantize()


def matrix_of(module: nn.Module) -> Tensor:
    """The (in, out) matrix of a linear layer: x @ matrix + bias is what the layer computes."""
    weights = _weights_of(module)
    return _by_doing(module) if weights is None else weights


def bias_of(module: nn.Module) -> Tensor | None:
    """(out,), float32; None where the layer maps zero to zero."""
    if _weights_of(module) is not None:
        bias = getattr(module, "bias", None)
        return None if bias is None else bias.detach().float()
    at_zero = _does(module, torch.zeros(1, _width(module)))[0]
    return at_zero if bool(at_zero.any()) else None


def state_of(module: nn.Module) -> Hashable:
    """Other than before, if the layer's weights were changed in place or replaced, or its adapters chosen otherwise."""
    if _is_offloaded(module):
        return None  # its weights come and go; what is on the disk does not change
    tensors = [*module.parameters(), *module.buffers()]
    versions = tuple((id(one), 0 if one.is_inference() else one._version) for one in tensors)
    adapters = [repr(getattr(module, name, None)) for name in ("active_adapters", "merged_adapters", "disable_adapters")]
    return versions, *adapters, repr(getattr(module, "scaling", None))


_NOT_LINEAR = "is not linear: what it makes of a sum of vectors is not the sum of what it makes of each"
_BY_ROUNDING = (
    ", since it rounds every vector that it reads to {} (for norms, quantise its weights only, as bitsandbytes-4bit, "
    "quanto-int8 and torchao-int8 do, or open the model as it was before)"
)


def why_not_linear(module: nn.Module, given: Tensor, result: Tensor) -> str | None:
    """What keeps a module that made `result` (..., out) of `given` (..., in) from being read as linear; None if nothing."""
    rows, made = given.reshape(-1, given.shape[-1]), result.reshape(-1, result.shape[-1])
    weights = _weights_of(module)
    if weights is not None:
        bias = bias_of(module)
        tolerance = CLOSE_IN_HALF if weights.dtype in HALVES or rounds_inputs(module) else CLOSE
        computed = rows @ weights.float() + (0 if bias is None else bias)
        return None if is_near(computed, made, tolerance) else "is not a plain linear layer"
    try:
        again, mixed = _superposed(module, rows, made)
    except Exception as error:  # whatever a stranger's layer may raise
        return f"is not a linear layer that takes single vectors ({type(error).__name__})"
    coarse = _in_half(made) or computed_in(module, _reads(module)[0]) in HALVES or rounds_inputs(module)
    if is_near(mixed, again, CLOSE_IN_HALF if coarse else CLOSE, made):
        return None
    return _NOT_LINEAR + (_BY_ROUNDING.format(rounded) if (rounded := rounds_inputs(module)) else "")


def _superposed(module: nn.Module, rows: Tensor, made: Tensor) -> tuple[Tensor, Tensor]:
    """What a layer makes of mixtures of vectors, and the mixtures of what it made of each: alike, where it is linear."""
    mixing = torch.randn(len(rows), len(rows), generator=torch.Generator().manual_seed(0)).to(rows) / len(rows) ** 0.5
    at_zero = _does(module, torch.zeros_like(rows[:1])).to(made)
    return _does(module, mixing @ rows).to(made) - at_zero, mixing @ (made - at_zero)


def rounds_inputs(module: nn.Module) -> str | None:
    """Whether a layer rounds every vector before it multiplies it, as some quantised ones do: to `int8`, `float8`, or not.

    Told by what it does: beside a 1, 0.0037 is less than half a step of 127, and 0.51 the same as 0.5 in float8; in any
    other floating point, they move at least some sums.
    """
    module = _base_of(module)
    if not _is_quantised(module):
        return None
    if _is_same(module, 0.0, 0.0037):
        return "int8"
    return "float8" if _is_same(module, 0.5, 0.51) else None


def computed_in(module: nn.Module, dtype: torch.dtype) -> torch.dtype:
    """The precision in which a layer multiplies: it may be lower than `dtype`, that of what it returns."""
    module = _base_of(module)
    if dtype in HALVES or not _is_quantised(module):
        return dtype
    made = _does(module, torch.randn(1, _width(module), generator=torch.Generator().manual_seed(0)))
    return _in_half(made) or dtype


def _in_half(made: Tensor) -> torch.dtype | None:
    """The half precision that numbers came from, if they did."""
    return next((half for half in HALVES if torch.equal(made, made.to(half).to(made))), None)


def rounding_of_inputs(rounded: str | None, rows: Tensor) -> Tensor:
    """How far the numbers of vectors (..., in) may be off when a layer has rounded them."""
    if rounded is None:
        return torch.zeros_like(rows)
    largest = rows.abs().amax(-1, keepdim=True)
    return (largest / 254).expand_as(rows) if rounded == "int8" else rows.abs() / 16 + largest / 448 / 1024


def _is_same(module: nn.Module, one: float, other: float) -> bool:
    """Whether a layer does not tell two numbers apart that stand beside a 1."""
    rows = torch.tensor([[one], [other]]).repeat(1, _width(module))
    rows[:, 0] = 1
    made = _does(module, rows)
    return torch.equal(made[0], made[1])


def _base_of(module: nn.Module) -> nn.Module:
    """The layer that an adapter stands on: it adds its own to what that does."""
    while isinstance(base := getattr(module, "base_layer", None), nn.Module):
        module = base
    return module


def _is_quantised(module: nn.Module) -> bool:
    tensors = [*module.parameters(), *module.buffers()]
    return any(one.dtype not in _FLOATS or type(one).dequantize is not Tensor.dequantize for one in tensors)


def _weights_of(module: nn.Module) -> Tensor | None:
    """The (in, out) matrix by a layer's weights; None where they are not there, or not all that it does."""
    weight = getattr(module, "weight", None)
    if not isinstance(weight, Tensor) or weight.is_meta or not (isinstance(module, LINEAR) or _has_a_matrix(module, weight)):
        return None
    weight = dequantised(weight)
    if weight.dtype not in _FLOATS or weight.dim() != (3 if isinstance(module, nn.Conv1d) else 2):
        return None
    # kernel size 1: a linear layer on (batch, in, length)
    matrix = weight if isinstance(module, Conv1D) else weight[:, :, 0].T if isinstance(module, nn.Conv1d) else weight.T
    return matrix if _forward_of(module) in _PLAIN or _says_what_it_does(module, matrix) else None


def _has_a_matrix(module: nn.Module, weight: Tensor) -> bool:
    """Whether another class has the weights of a linear layer for its own, as I-BERT's has, and is no wrapper around one."""
    wraps = isinstance(getattr(module, "base_layer", None), nn.Module)
    sizes = tuple(getattr(module, name, None) for name in reversed(_SIZES))
    return not wraps and weight.dtype in _FLOATS and tuple(weight.shape) == sizes


_PLAIN = (nn.Linear.forward, Conv1D.forward, nn.Conv1d.forward)


def _forward_of(module: nn.Module) -> Any:
    """The function that runs; under accelerate's hooks, the one that they run."""
    own = getattr(module, "_old_forward", None) or module.forward
    return getattr(own, "__func__", own)


def _says_what_it_does(module: nn.Module, matrix: Tensor) -> bool:
    """For classes with a forward of their own, which may do more than multiply."""
    some = torch.randn(3, matrix.shape[0], generator=torch.Generator().manual_seed(0)).to(matrix.device)
    bias = getattr(module, "bias", None)
    computed = some @ matrix.detach().float() + (0 if bias is None else bias.detach().float())
    try:
        return is_near(_does(module, some), computed, CLOSE_IN_HALF if matrix.dtype != torch.float32 else CLOSE)
    except Exception:  # it needs more than one tensor, say; the trace then compares what it really made
        return True


def _by_doing(module: nn.Module) -> Tensor:
    width = _width(module)
    at_zero = _does(module, torch.zeros(1, width))
    scale = _OVER_BIAS if bool(at_zero.any()) else 1.0
    matrix = at_zero.new_empty(width, at_zero.shape[-1])
    for start in range(0, width, _ROWS):
        rows = torch.zeros(min(_ROWS, width - start), width)
        rows.diagonal(start).fill_(scale)
        matrix[start : start + _ROWS] = (_does(module, rows) - at_zero) / scale
    return matrix


def _does(module: nn.Module, rows: Tensor) -> Tensor:
    """What the layer makes of vectors (row, in): (row, out), float32. No hooks are told of it, but accelerate's run."""
    dtype, device = _reads(module)
    given = rows.to(device, dtype)[None]
    with torch.no_grad():
        result = module.forward(given.mT).mT if isinstance(module, nn.Conv1d) else module.forward(given)
    return first_tensor(result)[0].float()


def _reads(module: nn.Module) -> tuple[torch.dtype, torch.device]:
    """In which precision a layer is given its vectors, and where."""
    tensors = [*module.parameters(), *module.buffers()]
    floats = [one.dtype for one in tensors if one.dtype in _FLOATS]
    there = [one.device for one in tensors if not one.is_meta]
    return floats[0] if floats else torch.float32, there[0] if there else runs_on(module) or torch.device("cpu")


def _width(module: nn.Module) -> int:
    name = "nx" if isinstance(module, Conv1D) else "in_channels" if isinstance(module, nn.Conv1d) else "in_features"
    width: int = getattr(module, name)
    return width


def _is_offloaded(module: nn.Module) -> bool:
    return any(one.is_meta for one in (*module.parameters(), *module.buffers()))
