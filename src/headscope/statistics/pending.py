"""Amounts that stay where the model is until their sums are asked for, and then come over together.

To ask a graphics processor for a number is to wait until it has done all that it was told before. So what statistics add is
kept as it is, a few numbers a head each, and comes over in one copy for each type of number: once a shard, because nobody
looks at sums before. They are added up here, in float64 and in the order in which they came: a device that has no float64
(Apple's) gives the same sums as any other. What is here already need not wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.kernels import threads
from headscope.later import Tensor, torch

MOST = 50_000  # amounts of one statistic that wait: some megabytes; a shard of 256 texts has a few thousand


class Pending:
    """The sums of one statistic, and what was added to them and is not in them yet."""

    def __init__(self, sums: dict[str, NDArray[Any]]) -> None:
        self.sums = sums
        self.waiting: list[tuple[str, int, Any, Any]] = []

    def add(self, name: str, entries: int, here: Any, amount: Tensor | float) -> None:
        """To some of a sum's entries, an index: one number for all of them, or (entry, ...). A sum that is new is made."""
        if not self.waiting and not isinstance(amount, Tensor):
            self.add_up(name, entries, here, amount)
        elif not self.waiting and isinstance(amount, Tensor) and amount.device.type in threads.HERE:
            self.add_up(name, entries, here, amount.detach().numpy())
        else:
            self.waiting.append((name, entries, here, amount))
            if len(self.waiting) >= MOST:
                settle([self])

    def add_up(self, name: str, entries: int, here: Any, amount: Any) -> None:
        """The same at once, with an array."""
        if name not in self.sums:
            self.sums[name] = np.zeros((entries, *np.shape(amount)[1:]))
        self.sums[name][here] += amount


def settle(several: Iterable[Pending]) -> None:
    """Bring over all that waits, and add it up."""
    some = dict.fromkeys(one for one in several if one.waiting)  # whoever is named twice is settled once
    amounts = iter(brought_over([amount for one in some for *_, amount in one.waiting]))
    for one in some:
        waiting, one.waiting = one.waiting, []
        for name, entries, here, _ in waiting:
            one.add_up(name, entries, here, next(amounts))


def brought_over(amounts: Sequence[Tensor | float]) -> list[Any]:
    """The same as arrays: one copy for each device and type of number, whatever the shapes."""
    found: list[Any] = list(amounts)
    alike: dict[Any, list[int]] = {}
    for place, amount in enumerate(amounts):
        if isinstance(amount, Tensor):
            alike.setdefault((amount.device, amount.dtype), []).append(place)
    for places in alike.values():
        flat = torch.cat([found[place].reshape(-1) for place in places]).cpu().numpy()
        ends = np.cumsum([found[place].numel() for place in places])
        for place, own in zip(places, np.split(flat, ends[:-1]), strict=True):
            found[place] = own.reshape(found[place].shape)
    return found


def wide(numbers: Tensor) -> Tensor:
    """In float64, for sums that need it on the way; as they are on a device that has none."""
    return numbers if numbers.device.type == "mps" else numbers.double()
