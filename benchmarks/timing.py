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
    """Rows that compare each with `to`: the median over the rounds of how many times as long it took in that round.

    Not the ratio of two medians: when the machine gets busy halfway, these may come from different halves.
    """
    rows = []
    for name, taken in seconds.items():
        if name == to:
            rows.append(Row(name, taken, "s"))
            continue
        ratio = median(mine / plain for mine, plain in zip(taken, seconds[to], strict=True))
        rows.append(Row(name, taken, "s", ratio, "x", f"time of {to}", targets.get(name)))
    return rows
