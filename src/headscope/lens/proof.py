"""What the doctor's proofs are made of: comparisons, what W_O was given and returned, and what rounding explains of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

from headscope.later import Tensor, nn, torch
from headscope.lens.lens import Lens
from headscope.lens.rounding import rounding
from headscope.lens.tokens.batch import Batch
from headscope.lens.watching.contraction import seen_by_hooks
from headscope.lens.watching.linear import first_tensor, matrix_of, rounding_of_inputs, rounds_inputs
from headscope.lens.watching.projection import Projection

RECONSTRUCTION = 1e-4  # relative to the largest
Returned = dict["nn.Module", "list[tuple[Tensor, Tensor]]"]  # what layers were given and returned, call by call
ROUNDINGS_OF_INPUTS = 4  # seven deviations of a sum of numbers that are off by at most one, each evenly


class Found(NamedTuple):
    """A comparison: its largest error, and the largest share that one takes of what is allowed where it stands."""

    error: float
    of_limit: float

    @classmethod
    def between(cls, ours: Tensor, theirs: Tensor, limit: float, explained: Tensor | float = 0.0) -> Self:
        """Numbers may differ by `limit`, and by what rounding explains."""
        apart = (ours - theirs).abs()
        return cls(float(apart.max()), float((apart / (limit + explained + 1e-30)).max()))  # where all numbers are zero


def largest_of(*shares: float) -> float:
    """Not a number, where one of them is none."""
    return float(torch.tensor(shares).max())


@contextmanager
def recording(lens: Lens, ran: Returned) -> Iterator[None]:
    """Keep what every W_O was given and returned, in order."""

    def keep(module: nn.Module, inputs: Any, output: Any) -> None:
        given, result = inputs[0], first_tensor(output)
        if isinstance(module, nn.Conv1d):
            given, result = given.mT, result.mT
        ran.setdefault(module, []).append((given, result))

    modules = {traced.projection.module for traced in lens.trace.sites if traced.projection is not None}
    handles = [module.register_forward_hook(keep) for module in modules]
    try:
        with seen_by_hooks(modules):
            yield
    finally:
        for handle in handles:
            handle.remove()


def returned(lens: Lens, batch: Batch) -> Returned:
    """What every W_O was given and returned in a pass that nobody watches."""
    ran: Returned = {}
    with torch.no_grad(), recording(lens, ran):
        lens.forward(batch.inputs)
    return ran


def believed(projection: Projection) -> tuple[Tensor, Tensor]:
    """The matrix (in, out) of the layer, with the heads' rows as measures read them, and its bias."""
    matrix = matrix_of(projection.module).detach().float().clone()
    rows = projection.matrices.flatten(0, 1)
    matrix[projection.columns.flatten()] = rows
    bias = projection.bias
    return matrix, matrix.new_zeros(matrix.shape[1]) if bias is None else bias


def rounding_of_output(projection: Projection, given: Tensor, result: Tensor, precision: torch.dtype) -> Tensor:
    """By how much rounding may have moved what the layer returned: (row, d_model)."""
    matrix, bias = believed(projection)
    terms = (given.square() @ matrix.square()).sqrt() + bias.abs() + result.abs()
    # A layer that multiplies in half precision rounds what it reads, unless that is in half precision already.
    read = rounding_of_inputs(rounds_inputs(projection.module), given) + (given - given.to(precision).to(given)).abs()
    return rounding(terms, precision) + ROUNDINGS_OF_INPUTS * (read.square() @ matrix.square()).sqrt()
