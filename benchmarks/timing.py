"""Times of several things measured in turn, so that whatever else the machine does falls on all of them alike."""

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from benchmarks.rows import Row, Target


def alternate(things: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each of `repeats` calls: A B C, A B C, ... after one round that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in things}
    for turn in range(repeats + 1):
        for name, call in things.items():
            start = time.perf_counter()
            call()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def as_ratios(seconds: Mapping[str, list[float]], to: str, targets: Mapping[str, Target]) -> list[Row]:
    """Rows that compare the median of each with the median of `to`."""
    plain = median(seconds[to])
    return [
        Row(name, taken, "s", median(taken) / plain, "x", f"time of {to}", targets.get(name))
        if name != to
        else Row(name, taken, "s")
        for name, taken in seconds.items()
    ]
