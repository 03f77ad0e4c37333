"""One row of a benchmark's table: a raw number, what it is when compared, and the target beside it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal


@dataclass(frozen=True)
class Target:
    """What the project promises. It is printed beside the number and never asserted."""

    bound: Literal["<=", ">="]
    value: float

    def met_by(self, value: float) -> bool:
        compare = operator.le if self.bound == "<=" else operator.ge
        return compare(value, self.value)


@dataclass(frozen=True)
class Row:
    """`compared` is what the target is about: a median ratio (unit `x`), an increase in MB, or the number itself."""

    what: str
    samples: Sequence[float]
    unit: Literal["s", "ms", "MB", "KB", "waits", "tokens", "tokens/s", "%"]
    compared: float | None = None
    compared_unit: Literal["x", "MB", "s", "waits"] = "x"
    versus: str = ""
    target: Target | None = None

    @property
    def median(self) -> float:
        return median(self.samples)

    @property
    def spread(self) -> float:
        """How many times as long the slowest round took as the fastest: 1 on a quiet machine."""
        return max(self.samples) / min(self.samples) if self.unit == "s" else 1.0

    @property
    def met(self) -> bool | None:
        """None where there is no target."""
        return None if self.target is None or self.compared is None else self.target.met_by(self.compared)

    def to_json(self) -> dict[str, Any]:
        """Everything, with the samples: their spread says how quiet the machine was."""
        return {
            "what": self.what,
            "median": self.median,
            "unit": self.unit,
            "compared": self.compared,
            "compared_unit": self.compared_unit,
            "versus": self.versus,
            "target": None if self.target is None else f"{self.target.bound} {self.target.value:g}",
            "met": self.met,
            "samples": list(self.samples),
        }
