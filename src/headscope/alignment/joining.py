"""Two directions joined before links are chosen: what both models say of two words, multiplied (Liang et al., 2006)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from headscope.alignment.linking import Weighed
from headscope.text.links import Pair

PRODUCT = "product"
MOST = 0.25  # a product of two shares whose geometric mean is one half


def product_links(forward: Weighed, backward: Weighed) -> dict[Pair, float]:
    """Links by the product of both models' shares: a of a target word's row, b of a source word's row in the other model.

    Two words are linked if each is the other's best by a b and this is more than 'no link' has in both, or if sqrt(a b),
    the link's score, is above one half. `backward` is the model from the target to the source.
    """
    (by_target, no_target), (by_source, no_source) = forward.kept_shares, backward.kept_shares
    joint = by_target * by_source.T  # (target word, source word)
    none = no_target[:, None] * no_source
    best = (joint == joint.max(1, keepdims=True)) & (joint == joint.max(0, keepdims=True)) & (joint > none)
    return {
        (int(source), int(target)): float(np.sqrt(joint[target, source]))
        for target, source in np.argwhere(best | (joint > MOST))
    }


def mean_scores(joined: frozenset[Pair], forward: Mapping[Pair, float], backward: Mapping[Pair, float]) -> dict[Pair, float]:
    """The score of links that were joined: the mean of both directions', 0 where one has not found it."""
    return {pair: (forward.get(pair, 0.0) + backward.get(pair, 0.0)) / 2 for pair in joined}
