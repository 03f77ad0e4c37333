"""Jensen-Shannon divergences between all pairs of heads (clark2019, section 6).

JS(p, q) = H((p + q) / 2) - (H(p) + H(q)) / 2 needs one logarithm for each key and pair, that of p + q: what is left follows
from sums of single heads. Float32 has digits enough for it, unless two heads are nearly alike: then the difference is small
beside the entropies, and is computed in a way in which nothing cancels.
"""

from __future__ import annotations

import math
from typing import Any

from headscope.kernels.threads import on_cpu, shared
from headscope.later import Later, Tensor, torch

ALIKE = 0.002  # a divergence below this part of what it is the difference of is computed closely, if there is one row
AT_ONCE = 1 << 22  # numbers at a time, on other devices

kernel: Any = Later("headscope.kernels.divergences")


def jensen_shannon(one: Tensor, other: Tensor) -> Tensor:
    """H((p + q) / 2) - (H(p) + H(q)) / 2 in nats: (..., key) -> (...).

    >>> round(jensen_shannon(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])).item(), 4)
    0.6931
    """
    return entropy((one + other) / 2) - (entropy(one) + entropy(other)) / 2


def entropy(rows: Tensor) -> Tensor:
    """(..., key) -> (...), in nats; 0 log 0 is 0."""
    return -(rows * rows.clamp(min=torch.finfo(rows.dtype).tiny).log()).sum(-1)


def divergences(maps: Tensor) -> Tensor:
    """The JS of every pair of heads, summed over all rows: (head, position), rows in a line -> (head, head), float64.

    To a relative error of 1e-4; most are ten times as exact.
    """
    if not on_cpu(maps):
        return _by_operations(maps)
    seen = maps.amax(0) > 0  # what no head looks at, such as what comes later in a decoder, adds nothing
    maps = maps if seen.double().mean() > 0.9 else maps[:, seen]
    maps = torch.nn.functional.pad(maps, (0, -maps.shape[1] % kernel.SUMMED)).contiguous()
    heads, positions = maps.shape
    together = torch.zeros(heads, heads, dtype=torch.float64)  # the sums of s log2 s for s = p + q
    shared(kernel.sum_together, heads, positions * heads * heads // 2, maps.numpy(), together.numpy())
    given = maps.sum(1, dtype=torch.float64)
    # Of a head with itself s is 2 p, so that s log2 s is 2 p log2 p + 2 p.
    own = together.diagonal() / 2 - given
    found = ((own[:, None] + own) / 2 - together / 2 + (given[:, None] + given) / 2) * math.log(2)
    found = found.triu(1)
    size = (given - own) / given.clamp(min=1).sqrt()  # of what was summed, rows and bits; errors of several rows cancel
    alike = found < ALIKE * (size[:, None] + size)
    ones, others = torch.nonzero(alike.triu(1), as_tuple=True)
    closely = torch.zeros(len(ones), dtype=torch.float64)
    arrays = [array.contiguous().numpy() for array in (ones, others, maps, closely)]
    shared(kernel.sum_closely, len(ones), len(ones) * positions, *arrays)
    found[ones, others] = closely
    return found + found.T


def _by_operations(maps: Tensor) -> Tensor:
    """The same on any device."""
    found = maps.new_zeros(len(maps), len(maps), dtype=torch.float64)
    for head in range(len(maps) - 1):
        for others in torch.arange(head + 1, len(maps)).split(max(1, AT_ONCE // max(1, maps.shape[1]))):
            found[head, others] = jensen_shannon(maps[head].double(), maps[others].double()).clamp(min=0)
    return found + found.T
