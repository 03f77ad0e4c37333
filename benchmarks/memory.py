"""Peak memory of a piece of work, each time in a fresh process."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from headscope.children import end_with_parent

Measured = TypeVar("Measured")
_STATUS = Path("/proc/self/status")
MB = 1e6


@dataclass(frozen=True)
class Memory:
    """Resident memory in MB: right before the work, at its peak, and at the peak of the process's whole life."""

    before: float
    peak: float
    process_peak: float

    @property
    def increase(self) -> float:
        return self.peak - self.before


def in_fresh_process(measure: Callable[..., Measured], *arguments: Any) -> Measured:
    """`measure(*arguments)` in a process that has done nothing before. `measure` is a module's own function."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=end_with_parent) as pool:
        return pool.submit(measure, *arguments).result()


def memory_of(work: Callable[[], Any]) -> Memory:
    """Run `work` once and see how far memory rises meanwhile."""
    until_now = _peak()
    _forget_peak()
    before = _now()
    work()
    peak = _peak()
    return Memory(before, peak, max(until_now, peak))


# Linux keeps in ru_maxrss the peak of the process that started this one, so the kernel's VmHWM is read there instead.


def _peak() -> float:
    if _STATUS.exists():
        return _status("VmHWM")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MB if sys.platform == "darwin" else peak * 1024 / MB


def _now() -> float:
    return _status("VmRSS") if _STATUS.exists() else _peak()


def _forget_peak() -> None:
    """Loading a model may take more than running it. Where the kernel cannot forget that, increases come out too low."""
    if _STATUS.exists():
        Path("/proc/self/clear_refs").write_text("5")


def _status(field: str) -> float:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024 / MB
