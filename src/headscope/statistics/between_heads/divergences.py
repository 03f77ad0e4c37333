"""Jensen-Shannon divergences between all pairs of heads, as matrix products (clark2019, section 6).

The second derivative of x log x is 1/x, the integral of exp(-t x) over t. So x log x is the integral of exp(-t x) / t^2, up
to a straight line, which JS does not see: JS(p, q) = H((p + q) / 2) - (H(p) + H(q)) / 2 is the sum over keys of

    1/2 * integral of (exp(-t p / 2) - exp(-t q / 2))^2 / t^2 dt,

a squared distance. With the integral as a sum over t = 2^r, a Gram matrix has the distances of all pairs: a few
multiplications in float32 for each key, and no logarithm.
"""

from __future__ import annotations

import math

import numpy as np

from headscope.later import Tensor, torch

LARGEST = -2  # t starts at 2^-2 / the largest weight, where exp is a short series,
SMALLEST = 14  # and ends at 2^14 * keys: weights far below 1 / keys are told from 0
SERIES = 6  # the first nodes stand for all smaller t as well, up to this order
WIDTH = 4096  # positions at a time, so that what is made of them stays in a cache
PIECE = 1024  # positions of a matrix product
STRIP = 48  # heads that are multiplied with themselves and all later ones at a time: two heads meet once, in one order
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
    falling = maps.index_select(1, maps.amax(0).argsort(descending=True))  # where all weights are small, fewer nodes will do
    gram = torch.stack([_grams(some, keys) for some in falling.split(WIDTH, dim=1)]).sum(0)
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
    """Inner products of f = 1 - exp(-t p / 2) between heads: (2, head, head), of all nodes but the last, and of the last.

    Less the mean head's m, which changes no distance and leaves less to cancel. Since f (2 - f) is f at 2t, f - m becomes
    (f - m) (2 - m - f), which rounding changes in proportion to f - m, and not to f.
    """
    nodes, weights = quadrature(keys, maps.max().item() if maps.numel() else 1.0)
    centred, mean = _arranged(maps), _arranged(maps.mean(0, keepdim=True))
    for some in (centred, mean):
        some.mul_(-nodes[0] / 2).expm1_().neg_()
    centred.sub_(mean)
    before_last, of_last = _Products(centred), _Products(centred)
    for node, weight in enumerate(weights, start=1):
        (of_last if node == len(weights) else before_last).add(centred, weight)
        torch.lerp(centred, 1 - 2 * mean, centred, out=centred)
        mean.mul_(2 - mean)
    return torch.stack([before_last.matrix(), of_last.matrix()])


def _arranged(maps: Tensor) -> Tensor:
    """(head, position) -> (piece, position in piece, head), with zeros where there are too few positions.

    A piece is a matrix product of its own, so the libraries give each to one thread and wait for none between.
    """
    heads, positions = maps.shape
    pieces = -(-positions // PIECE)
    whole = maps.new_zeros(pieces * PIECE, heads)
    whole[:positions] = maps.T
    return whole.view(pieces, PIECE, heads)


class _Products:
    """The inner products of all heads that come, piece by piece: of each strip of heads with itself and all later ones."""

    def __init__(self, like: Tensor) -> None:
        pieces, _, self.heads = like.shape
        firsts = range(0, self.heads, STRIP)
        self.strips = {first: like.new_zeros(pieces, min(STRIP, self.heads - first), self.heads - first) for first in firsts}

    def add(self, rows: Tensor, weight: float) -> None:
        """(piece, position, head)"""
        for first, products in self.strips.items():
            products.baddbmm_(rows[:, :, first : first + STRIP].mT, rows[:, :, first:], alpha=weight)

    def matrix(self) -> Tensor:
        """All of them: (head, head), float64."""
        found = self.strips[0].new_empty(self.heads, self.heads, dtype=torch.float64)
        for first, products in self.strips.items():
            summed = products.sum(0, dtype=torch.float64)
            found[first : first + STRIP, first:] = summed
            found[first:, first : first + STRIP] = summed.T
        return found


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
