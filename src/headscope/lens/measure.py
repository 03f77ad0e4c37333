"""The measures by name: a measure is a function from a block to scores (batch, head, row, key)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from headscope.errors import InputError
from headscope.later import Tensor
from headscope.lens.site import Site

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock

Compute = Callable[["AttentionBlock"], Tensor]
# What a site must let a measure know beside its weights: W_O; and how its output joins the residual stream.
Needs = Literal["weights", "norms", "residual"]


@dataclass(frozen=True)
class Measure:
    """A named function on blocks, with what a caller must know about its scores."""

    name: str
    compute: Compute
    about: str
    title: str
    joint: bool = False  # one score for all heads together: the head dimension is 1
    per_key: bool = False  # the same for every query row
    signed: bool = False  # some scores may be negative
    needs: Needs = "norms"

    def __call__(self, block: AttentionBlock) -> Tensor:
        return self.compute(block)


class Measures(dict[str, Measure]):
    """A dictionary whose missing keys are explained."""

    def __missing__(self, name: str) -> Measure:
        import_module("headscope.measures")  # they fill it, which nobody may have asked for yet
        if name in self:
            return self[name]
        raise InputError(f"There is no measure {name!r}; choose one of {', '.join(sorted(self))}.")


MEASURES = Measures()  # the usual ones first, once `headscope.measures` has filled it


def measure(
    name: str, *, title: str = "", joint: bool = False, per_key: bool = False, signed: bool = False, needs: Needs = "norms"
) -> Callable[[Compute], Measure]:
    """Register the decorated function as the measure `name`; its docstring's first line describes it."""

    def register(compute: Compute) -> Measure:
        about, called = (compute.__doc__ or "").strip().split("\n")[0], title or name.replace("_", " ")
        MEASURES[name] = Measure(name, compute, about, called, joint, per_key, signed, needs)
        return MEASURES[name]

    return register


def can_have(site: Site, measure: str) -> bool:
    """Whether a site lets a measure know what it needs."""
    needs = MEASURES[measure].needs
    return needs == "weights" or (site.why_no_norms is None and (needs == "norms" or site.residual))
