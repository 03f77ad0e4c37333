"""The measures by name: a measure is a function from a block to scores (batch, head, row, key)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

from headscope.errors import InputError

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock


@dataclass(frozen=True)
class Measure:
    """A named function on blocks, with what a caller must know about the shape of its scores."""

    name: str
    compute: Callable[[AttentionBlock], Tensor]
    about: str
    joint: bool = False  # one score for all heads together: the head dimension is 1
    per_key: bool = False  # the same for every query row
    needs_norms: bool = True  # needs W_O, which some sites do not have

    def __call__(self, block: AttentionBlock) -> Tensor:
        return self.compute(block)


class Measures(dict[str, Measure]):
    """A dictionary whose missing keys are explained."""

    def __missing__(self, name: str) -> Measure:
        raise InputError(f"There is no measure {name!r}; choose one of {', '.join(sorted(self))}.")


MEASURES = Measures()


def measure(
    name: str, *, joint: bool = False, per_key: bool = False, needs_norms: bool = True
) -> Callable[[Callable[[AttentionBlock], Tensor]], Measure]:
    """Register the decorated function as the measure `name`; its docstring's first line describes it."""

    def register(compute: Callable[[AttentionBlock], Tensor]) -> Measure:
        about = (compute.__doc__ or "").strip().split("\n")[0]
        MEASURES[name] = Measure(name, compute, about, joint=joint, per_key=per_key, needs_norms=needs_norms)
        return MEASURES[name]

    return register
