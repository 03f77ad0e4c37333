"""The integral that is a Jensen-Shannon divergence as a sum over few t, and what that may miss.

For the weights p and q that two heads give to a key, it is 1/2 * integral of f(t) / t^2 dt with
f(t) = (exp(-t p / 2) - exp(-t q / 2))^2: see `divergences`.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from headscope.later import Tensor, torch

LARGEST = -2  # t starts at 2^-2 / the largest weight, where exp is nearly a straight line,
SMALLEST = 13  # and ends at 2^13 * keys: weights far below 1 / keys are told from 0
FITTED = 5  # the first nodes stand for all smaller t as well


def quadrature(keys: int, largest: float = 1.0) -> tuple[list[float], list[float]]:
    """Nodes t and weights w: the integral is the sum of w f(t), for weights up to the `largest`.

    f is analytic in log t, so the trapezoidal rule with step log 2 has a relative error of 1e-5. What lies below the first
    node is in the weights of the first few, and the second can be spared. Beyond the last, f goes on as a straight line in
    log t through the last two: that makes four times the weight for the last, and none for the one before.
    """
    last = SMALLEST + math.ceil(math.log2(max(keys, 128)))
    first = LARGEST + math.floor(-math.log2(max(largest, 1 / keys)))
    nodes = 2.0 ** np.array([first, *range(first + 2, last - 1), last])
    weights = math.log(2) / (2 * nodes)
    weights[:FITTED] *= _fitted()
    weights[-1] *= 4
    return nodes.tolist(), weights.tolist()


@functools.cache
def _fitted() -> np.ndarray:
    """By how much the weights of the first nodes differ from the trapezoidal rule's.

    JS is an average of second derivatives, 1/x, for x between p and q. So the sum of exp(-t x) over the nodes has to be
    1/x, for x up to the largest weight, and its relative errors bound those of JS: here they are 1e-5.
    """
    nodes = 2.0 ** np.array([LARGEST, *range(LARGEST + 2, 40)])
    x = np.geomspace(2.0**-8, 1, 400)[:, None]
    shares = math.log(2) * x * nodes * np.exp(-x * nodes)
    return np.linalg.lstsq(shares[:, :FITTED], 1 - shares[:, FITTED:].sum(1), rcond=None)[0]


def missed_by(maps: Tensor, keys: int) -> Tensor:
    """What weights that the last node hardly tells from 0 may add to a head's JS: (piece, position, head) -> (head).

    The quadrature misses less than (s(p T) + s(q T)) / T of a position's JS, for the last node T and
    s(u) = 0.4 sqrt(u) exp(-u / 4), beside its relative error.
    """
    last = quadrature(keys)[0][-1]
    quarters = (maps * (last / 4)).clamp_(max=40)  # exp(-40) is next to nothing, and numbers beyond float32's are slow
    return (quarters.sqrt() / quarters.exp_()).sum(1).sum(0, dtype=torch.float64) * (0.8 / last)


def missed_between(maps: Tensor, keys: int) -> Tensor:
    """The same of pairs, and less for two that are alike in what they hardly look at: (head, position) -> (head, head).

    The quadrature misses less than 2 (r(p T) - r(q T))^2 / T as well, for r(u) = (1 - exp(-u / 8))^0.4.
    """
    last = quadrature(keys)[0][-1]
    amounts = (1 - (maps * (-last / 8)).clamp_(min=-40).exp_()).pow_(0.4)
    return torch.cdist(amounts, amounts, compute_mode="use_mm_for_euclid_dist").double() ** 2 * (2 / last)
