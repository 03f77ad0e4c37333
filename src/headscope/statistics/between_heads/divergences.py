"""Jensen-Shannon divergences between all pairs of heads, as matrix products (clark2019, section 6).

The second derivative of x log x is 1/x, the integral of exp(-t x) over t. So x log x is the integral of exp(-t x) / t^2, up
to a straight line, which JS does not see: JS(p, q) = H((p + q) / 2) - (H(p) + H(q)) / 2 is the sum over keys of

    1/2 * integral of (exp(-t p / 2) - exp(-t q / 2))^2 / t^2 dt,

a squared distance. With the integral as a sum over t = 2^r, a Gram matrix has the distances of all pairs: a few
multiplications in float32 for each key, and no logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
from threadpoolctl import ThreadpoolController

from headscope.later import Tensor, torch

LARGEST = -2  # t starts at 2^-2 / the largest weight, where exp is a short series,
SMALLEST = 14  # and ends at 2^14 * keys: weights far below 1 / keys are told from 0
SERIES = 6  # the first nodes stand for all smaller t as well, up to this order
WIDTH = 4096  # positions at a time, so that what is made of them stays in a cache
AGAIN = 1 << 16  # numbers at a time, where pairs are computed again


def jensen_shannon(one: Tensor, other: Tensor) -> Tensor:
    """H((p + q) / 2) - (H(p) + H(q)) / 2 in nats: (..., key) -> (...).

    >>> round(jensen_shannon(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])).item(), 4)
    0.6931
    """
    return entropy((one + other) / 2) - (entropy(one) + entropy(other)) / 2


def entropy(rows: Tensor) -> Tensor:
    """(..., key) -> (...), in nats; 0 log 0 is 0."""
    return -(rows * rows.clamp(min=torch.finfo(rows.dtype).tiny).log()).sum(-1)


def divergences(maps: Tensor, keys: int) -> Tensor:
    """The JS of every pair of heads: (head, position), rows of at most `keys` keys in a line -> (head, head), float64.

    The sum over all rows, to a relative error of 1e-4; most are ten times as exact.
    """
    alike = maps.amax(0).argsort(descending=True).split(WIDTH)  # where all weights are small, fewer nodes will do
    gram = _in_threads(lambda some: _grams(maps.index_select(1, some), keys), alike)
    own = gram.diagonal(dim1=1, dim2=2)
    own = own[:, :, None] + own[:, None]
    _, of_last = parts = own - 2 * gram
    found = parts.sum(0)
    return _exactly_where(_doubtful(found, of_last, own.sum(0)), found, maps).fill_diagonal_(0)


def quadrature(keys: int, largest: float = 1.0) -> tuple[list[float], list[float]]:
    """Nodes t and weights w: for the f above, 1/2 * integral of f(t) / t^2 dt is the sum of w f(t), up to a `largest` p.

    f is analytic in log t, so the trapezoidal rule with step log 2 has a relative error of 1e-5. Below the first node f is
    a power series from t^2 on, and what it comes to is in the weights of the first nodes; beyond the last, f is as there.
    """
    last = SMALLEST + math.ceil(math.log2(max(keys, 128)))
    first = LARGEST + math.floor(-math.log2(max(largest, 1 / keys)))
    nodes = 2.0 ** np.arange(first, last + 1)
    weights = math.log(2) / (2 * nodes)
    powers = np.arange(2, 2 + SERIES)
    below = 1 / (2.0 ** (powers - 1) - 1)  # the sum of t^(power - 1) over t = 1/2, 1/4, ...
    weights[:SERIES] += weights[0] * np.linalg.solve(2.0 ** np.outer(powers, np.arange(SERIES)), below)
    weights[-1] *= 2
    return nodes.tolist(), weights.tolist()


def _grams(maps: Tensor, keys: int) -> Tensor:
    """Inner products of 1 - exp(-t p / 2) between heads: (2, head, head), of all nodes but the last, and of the last.

    Less the mean head, which changes no distance and leaves less to cancel.
    """
    nodes, weights = quadrature(keys, maps.max().item() if maps.numel() else 1.0)
    grams = maps.new_zeros(2, len(maps), len(maps))
    one = maps.new_ones(())
    rising = torch.cat([maps, maps.mean(0, keepdim=True)]).mul_(-nodes[0] / 2).expm1_().neg_()
    of_heads, of_mean, centred = rising[:-1], rising[-1], torch.empty_like(maps)
    for node, weight in enumerate(weights, start=2 - len(weights)):
        torch.sub(of_heads, of_mean, out=centred)
        grams[max(node, 0)].add_(_with_itself(centred), alpha=weight)
        torch.lerp(rising, one, rising, out=rising)  # f (2 - f) is f at 2t, and its relative error grows no more
    return grams.double()


def _with_itself(rows: Tensor) -> Tensor:
    """rows @ rows.T; numpy knows the product to be symmetric, and computes half of it."""
    if rows.device.type != "cpu":
        return rows @ rows.T
    array = rows.numpy()
    return torch.from_numpy(np.dot(array, array.T))


def _in_threads(work: Callable[[Tensor], Tensor], chunks: Sequence[Tensor]) -> Tensor:
    """The sum of `work` over all chunks, each in one thread: the libraries' own threads would meet after every step."""
    threads = min(torch.get_num_threads(), len(chunks))
    if threads == 1 or chunks[0].device.type != "cpu":
        return sum(map(work, chunks[1:]), work(chunks[0]))
    before = torch.get_num_threads()
    try:
        with (
            _libraries().limit(limits=1, user_api="blas"),
            ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool,
        ):
            parts = list(pool.map(work, chunks))
    finally:
        torch.set_num_threads(before)  # what a thread sets for itself, later threads would begin with
    return torch.stack(parts).sum(0)


@cache
def _libraries() -> ThreadpoolController:
    """The process's numerical libraries; to find them takes longer than to use them."""
    return ThreadpoolController()


def _doubtful(found: Tensor, of_last: Tensor, own: Tensor) -> Tensor:
    """(head, head): where float32 or the nodes may not have been enough for a relative error of 1e-4."""
    lost = found < 0.01 * own  # two digits in a difference
    rounded = found < 2e-4  # nearly the same, in too few rows for the errors to cancel
    unresolved = of_last > 1e-4 * found  # by weights that the last node does not tell from 0
    return lost | rounded | unresolved


def _exactly_where(doubtful: Tensor, found: Tensor, maps: Tensor) -> Tensor:
    """The doubtful ones, computed in float64."""
    left, right = torch.nonzero(doubtful.triu(1), as_tuple=True)
    step = max(1, AGAIN // max(1, maps.shape[1]))
    for some, others in zip(left.split(step), right.split(step), strict=True):
        found[some, others] = jensen_shannon(maps[some].double(), maps[others].double()).clamp(min=0)
    return found.triu(1) + found.triu(1).T
