"""Heads as points in a plane and as clusters, from the distances between them (clark2019, section 6, figure 6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headscope.errors import InputError
from headscope.later import pd, scipy, sklearn
from headscope.statistics.base import Array

STARTS = 8  # random ones, beside Torgerson's classical scaling; the one that ends with the least stress is kept


class Embedding(NamedTuple):
    """A point for every head, and how far their distances are from the heads' own: Kruskal's stress, 0 for not at all."""

    points: Array  # head 2
    stress: float


class SameLayer(NamedTuple):
    """The share of heads whose nearest head is in their own layer, and what it would be if layers did not matter."""

    share: float
    chance: float


def embed(matrix: Array, seed: int = 0) -> Embedding:
    """Multidimensional scaling (Kruskal 1964), metric: points whose distances are as near as possible to `matrix`.

    The same points for the same seed. The first axis is the one along which they differ most, and on both axes the
    point that lies farthest out is on the positive side.
    """
    _check(matrix)
    if not matrix.any():
        raise InputError("These heads do not differ in any row, so they cannot be placed apart from each other.")
    random = np.random.default_rng(seed).uniform(size=(STARTS, len(matrix), 2)) * matrix.max()
    starts = (classical_scaling(matrix), *random)
    ends = [sklearn.manifold.smacof(matrix, init=start, n_init=1, max_iter=1000)[0] for start in starts]
    found = min(ends, key=lambda points: stress(matrix, points))
    centred = found - found.mean(0)
    points = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    points *= np.sign(points[np.abs(points).argmax(0), [0, 1]])
    return Embedding(points, stress(matrix, points))


def stress(matrix: Array, points: Array) -> float:
    """sqrt(sum (distance - embedded)^2 / sum embedded^2): Kruskal's stress-1; 0.05 is good, 0.2 is poor.

    >>> stress(np.array([[0.0, 2.0], [2.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]]))
    1.0
    """
    embedded = scipy.spatial.distance.pdist(points)
    apart = scipy.spatial.distance.squareform(matrix, checks=False)
    return float(np.sqrt(((apart - embedded) ** 2).sum() / (embedded**2).sum()))


def classical_scaling(matrix: Array) -> Array:
    """Torgerson's: the two main axes of the points whose distances `matrix` would be, were they Euclidean."""
    squared = matrix**2
    products = -(squared - squared.mean(0) - squared.mean(1)[:, None] + squared.mean()) / 2
    values, vectors = np.linalg.eigh(products)
    return vectors[:, :-3:-1] * np.sqrt(values[:-3:-1].clip(min=0))


def clusters(labels: pd.DataFrame, matrix: Array, count: int | None = None) -> pd.DataFrame:
    """One row a head: its cluster, its silhouette (from -1, misplaced, to 1), its nearest head and their distance.

    Hierarchical clusters by average linkage. Without `count`, their number is the one from 2 to a third of the heads with
    the largest mean silhouette, among those that give at least two clusters of two heads or more: to set one odd head
    apart from all others is no clustering. Clusters count from 0, in the order of their first heads.
    """
    _check(matrix)
    heads = len(matrix)
    if count is not None and not 1 <= count <= heads:
        raise InputError(f"{heads} heads make from 1 to {heads} clusters, not {count}.")
    tree = scipy.cluster.hierarchy.linkage(scipy.spatial.distance.squareform(matrix, checks=False), method="average")
    counts = [count] if count is not None else list(range(2, max(2, heads // 3) + 1))
    cuts = [_in_order(cut) for cut in scipy.cluster.hierarchy.cut_tree(tree, counts).T]
    silhouettes = [_silhouettes(matrix, cut) for cut in cuts]
    worth = [(sum(np.bincount(cut) > 1) > 1, of_cut.mean()) for cut, of_cut in zip(cuts, silhouettes, strict=True)]
    best = worth.index(max(worth))
    nearest, distances = nearest_heads(matrix)
    near = labels[["layer", "head"]].iloc[nearest].reset_index(drop=True).add_prefix("nearest_")
    found = labels.reset_index(drop=True).assign(cluster=cuts[best], silhouette=silhouettes[best])
    return pd.concat([found, near], axis=1).assign(distance=distances)


def nearest_heads(matrix: Array) -> tuple[np.ndarray, Array]:
    """For each head the place of the nearest other one, and its distance."""
    _check(matrix)
    others = matrix + np.diag(np.full(len(matrix), np.inf))
    return others.argmin(1), others.min(1)


def nearest_in_layer(labels: pd.DataFrame, matrix: Array) -> SameLayer:
    """How often the nearest head lies in the same layer, beside the share of same-layer heads among all others."""
    layers = labels["layer"].to_numpy(dtype=int)
    nearest, _ = nearest_heads(matrix)
    same = layers[:, None] == layers
    chance = (same.sum(1) - 1) / (len(layers) - 1)
    return SameLayer(float((layers[nearest] == layers).mean()), float(chance.mean()))


def _silhouettes(matrix: Array, cut: np.ndarray) -> Array:
    """Of every head; 0 where there is but one cluster, or each head is one."""
    if 1 < len(np.unique(cut)) < len(cut):
        return sklearn.metrics.silhouette_samples(matrix, cut, metric="precomputed")
    return np.zeros(len(cut))


def _in_order(cut: np.ndarray) -> np.ndarray:
    """Clusters numbered by their first heads."""
    _, first, which = np.unique(cut, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[which]


def _check(matrix: Array) -> None:
    if len(matrix) < 3:
        raise InputError("Clusters need at least three heads.")
    if np.isnan(matrix).any():
        raise InputError(
            "Some pairs of heads have no distance: take all pairs of one stack and kind, without heads that look at nothing."
        )
