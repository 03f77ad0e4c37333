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
from headscope.lens.watching import workspace
from headscope.statistics.between_heads.inner_products import InnerProducts
from headscope.statistics.between_heads.quadrature import missed_between, missed_by, quadrature

PIECE = 1024  # positions of a matrix product
PIECES = 4  # at a time, so that what is made of them stays in a cache
AGAIN = 1 << 16  # numbers at a time, where pairs are computed again
FEW = 32  # pairs that are computed again in the time that a second look at all takes


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
    highest, falling = maps.amax(0).sort(descending=True)  # where all weights are small, fewer nodes will do
    seen = int(highest.count_nonzero())  # what no head looks at, such as what comes later in a decoder, adds nothing
    pieces = _arranged(maps, falling[:seen])
    gram = maps.new_zeros(len(maps), len(maps), dtype=torch.float64)
    missed = maps.new_zeros(len(maps), dtype=torch.float64)
    for first in range(0, len(pieces), PIECES):
        some = pieces[first : first + PIECES]
        missed += missed_by(some, keys)
        gram += _gram(some, keys, largest=highest[first * PIECE].item())
    own = gram.diagonal()[:, None] + gram.diagonal()
    found = own - 2 * gram
    doubtful = _too_few_digits(found, own) | _unresolved(found, missed, maps, keys)
    return _exactly_where(doubtful, found, maps).fill_diagonal_(0)


def _arranged(maps: Tensor, places: Tensor) -> Tensor:
    """(head, position) -> (piece, position in piece, head), with zeros where there are too few positions.

    A piece is a matrix product of its own, so the libraries give each to one thread and wait for none between.
    """
    pieces = -(-len(places) // PIECE)
    turned = workspace.empty(maps, maps.shape[1], len(maps)).copy_(maps.T)
    whole = workspace.empty(maps, pieces * PIECE, len(maps))
    torch.index_select(turned, 0, places, out=whole[: len(places)])
    whole[len(places) :] = 0
    return whole.view(pieces, PIECE, len(maps))


def _gram(maps: Tensor, keys: int, largest: float) -> Tensor:
    """Inner products of f = 1 - exp(-t p / 2) between heads, summed over the nodes: (head, head), float64.

    Less the mean head's m, which changes no distance and leaves less to cancel. Since f (2 - f) is f at 2t, f - m becomes
    (f - m) (2 - m - f), which rounding changes in proportion to f - m, and not to f. `maps` is (piece, position, head), and
    is written over.

    m is computed anew for each t, because m (2 - m) ends one rounding error below 1: small differences would then shrink by
    1e-7 again and again, through the numbers below 1e-38 with which processors are up to a hundred times as slow. At m = 1,
    2 - m - f is either 0 or at least 6e-8, and a difference that is small is 0 at the next t.
    """
    nodes, weights = quadrature(keys, largest)
    at = dict(zip(nodes, weights, strict=True))
    times = 2.0 ** np.arange(math.log2(nodes[0]), math.log2(nodes[-1]))  # the nodes, and what is spared between them
    mean = maps.mean(-1, keepdim=True) * maps.new_tensor(times / -2)[:, None, None, None]
    mean.clamp_(min=-40).expm1_().neg_()
    centred = maps.mul_(-nodes[0] / 2).expm1_().neg_().sub_(mean[0])
    products = InnerProducts(centred)
    products.add(weights[0])
    for time, falls in zip(times.tolist(), 1 - 2 * mean, strict=True):
        torch.lerp(centred, falls, centred, out=centred)
        if 2 * time in at:
            products.add(at[2 * time])
    return products.matrix()


def _too_few_digits(found: Tensor, own: Tensor) -> Tensor:
    """(head, head): where float32 may not have been enough for a relative error of 1e-4."""
    lost = found < 0.01 * own  # two digits in a difference
    rounded = found < 2e-4  # nearly the same, in too few rows for the errors to cancel
    return lost | rounded


def _unresolved(found: Tensor, missed: Tensor, maps: Tensor, keys: int) -> Tensor:
    """(head, head): where the nodes may not have been enough for it."""
    most = 7e-5 * found
    unresolved = missed[:, None] + missed > most
    if unresolved.triu(1).sum() > FEW:
        unresolved &= missed_between(maps, keys) > most
    return unresolved


def _exactly_where(doubtful: Tensor, found: Tensor, maps: Tensor) -> Tensor:
    """The doubtful ones, computed in float64."""
    left, right = torch.nonzero(doubtful.triu(1), as_tuple=True)
    step = max(1, AGAIN // max(1, maps.shape[1]))
    for some, others in zip(left.split(step), right.split(step), strict=True):
        found[some, others] = jensen_shannon(maps[some].double(), maps[others].double()).clamp(min=0)
    return found.triu(1) + found.triu(1).T
