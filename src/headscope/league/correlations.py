"""How well one number of each head ranks heads by another: Spearman's rho over all heads, within layers, given the layer.

Numbers are (..., head): a row is what one draw of texts gives, so that intervals take no loop.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headscope.later import stats
from headscope.statistics.base import Array

FEWEST = 3  # heads that a rank correlation is of: two are always in order or against it


class Ranked:
    """One number of some heads as what its correlations need: ranks, once, however many others it is compared with."""

    def __init__(self, values: Array, layers: Sequence[int] | None = None) -> None:
        """values: (..., head); without layers, only for `spearman`."""
        ranks = _ranks(values)
        self.over = _unit(ranks)
        if layers is not None:
            self.inside = [_unit(_ranks(values[..., places])) for places in _by_size(layers)]  # (..., layer, head)
            self.given = _unit(_less_the_layer(ranks, layers))


def spearman(one: Ranked, other: Ranked) -> Array:
    """(...,): ties have the mean of their ranks; not a number where all heads are alike.

    >>> spearman(Ranked(np.array([1.0, 2.0, 3.0])), Ranked(np.array([1.0, 9.0, 4.0]))).round(6).item()
    0.5
    """
    return _product(one.over, other.over)


def within_layers(one: Ranked, other: Ranked) -> Array:
    """The mean of rho in each layer, of those that have at least three heads and in which heads differ."""
    found = [_product(some, others) for some, others in zip(one.inside, other.inside, strict=True)]
    every = np.concatenate(found, -1) if found else np.full((*one.over.shape[:-1], 1), np.nan)
    counted = np.isfinite(every)
    total = np.where(counted, every, 0).sum(-1)
    return np.divide(total, counted.sum(-1), out=np.full(total.shape, np.nan), where=counted.any(-1))


def given_layer(one: Ranked, other: Ranked) -> Array:
    """The partial rank correlation: that of the ranks over all heads, each less the mean rank of its layer."""
    return _product(one.given, other.given)


def _ranks(values: Array) -> Array:
    if values.shape[-1] < FEWEST:
        return np.full(values.shape, np.nan)
    ranks: Array = stats.rankdata(values.astype(np.float64), axis=-1, nan_policy="propagate")
    return ranks


def _unit(ranks: Array) -> Array:
    """Less their mean, and of length 1; not a number where all are alike: the product of two is their correlation."""
    apart = ranks - ranks.mean(-1, keepdims=True)
    size = np.sqrt(np.square(apart).sum(-1, keepdims=True))
    # Ranks are halves: what is left of equal ones is rounding.
    return np.divide(apart, size, out=np.full(apart.shape, np.nan), where=size > 1e-6)


def _product(one: Array, other: Array) -> Array:
    products: Array = np.einsum("...h,...h->...", one, other)
    return products


def _by_size(layers: Sequence[int]) -> list[NDArray[np.int64]]:
    """The places of layers' heads, (layer, head) for all layers of one size."""
    sizes: dict[int, list[NDArray[np.int64]]] = {}
    for layer in dict.fromkeys(layers):
        places = np.flatnonzero(np.asarray(layers) == layer)
        if len(places) >= FEWEST:
            sizes.setdefault(len(places), []).append(places)
    return [np.stack(some) for some in sizes.values()]


def _less_the_layer(ranks: Array, layers: Sequence[int]) -> Array:
    found = np.empty_like(ranks)
    for layer in dict.fromkeys(layers):
        here = np.asarray(layers) == layer
        found[..., here] = ranks[..., here] - ranks[..., here].mean(-1, keepdims=True)
    return found
