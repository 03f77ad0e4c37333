"""Neurons: how one attention's weights come about, dimension by dimension (vig2019, section 4.3).

query, key, element-wise product q * k, dot product q.k, softmax(scaling q.k). Models may put more between the dot product
and the softmax than a scale and a mask; whether they do is measured, and said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headscope.errors import InputError
from headscope.later import Tensor, torch
from headscope.lens.block import AttentionBlock
from headscope.lens.site import Site

EXACT = 1e-4  # largest difference of a weight, in float32
EXACT_IN_HALF = 2e-2  # where the weights are the model's own and it keeps them in half precision
AT_ONCE = 4_000_000  # numbers of a head that are looked at together


@dataclass(frozen=True)
class Neurons:
    """The queries and keys of one attention of one text, as the model multiplies them, in pieces of words.

    Rotary positions are in them; keys have one entry for every group of heads that share them. Where `exact`,
    softmax(scaling * q.k) over the keys that a row sees gives its weights; else `why` says what stands between.
    """

    site: Site
    queries: Tensor  # head query d
    keys: Tensor  # group key d
    weights: Tensor  # head query key
    scaling: float  # of q.k; the nearest one where it is not exact
    exact: bool
    why: str | None = None  # one clause, where it is not exact

    def products(self, head: int, row: int) -> Tensor:
        """q * k, element by element, for one query and every key: (key, d)"""
        return self.queries[head, row] * self._keys_of(head)

    def dots(self, head: int, row: int) -> Tensor:
        """q.k, not scaled, for one query and every key: (key,)"""
        return self._keys_of(head) @ self.queries[head, row]

    def _keys_of(self, head: int) -> Tensor:
        return self.keys[head * self.keys.shape[0] // self.queries.shape[0]]


def neurons_of(block: AttentionBlock) -> Neurons:
    """The neurons of the first text of a block that has all of its rows."""
    queries, keys = block.queries, block.key_side.keys
    first = None if queries is None else queries[0], None if keys is None else keys[0]
    return neurons_from(block.site, block.weights[0], *first)


def neurons_from(site: Site, weights: Tensor, queries: Tensor | None, keys: Tensor | None) -> Neurons:
    """The same from what a text has: (head, query, key), (head, query, d) and (group, key, d), of all heads or of some."""
    if queries is None or keys is None or (queries.shape[1], keys.shape[1]) != tuple(weights.shape[1:]):
        raise InputError(
            f"{site.name}: no product of queries and keys was seen to make these weights, so there are no neurons to "
            "show; use another view."
        )
    tolerance = EXACT_IN_HALF if _in_half(weights) else EXACT
    weights, query, key = (one.detach().float().cpu() for one in (weights, queries, keys))
    scaling = fit_scaling(query, key, weights)
    between = what_stands_between(query, key, weights, scaling, tolerance)
    return Neurons(site, query, key, weights, scaling, between is None, between)


def fit_scaling(queries: Tensor, keys: Tensor, weights: Tensor) -> float:
    """The factor c for which log weight = c q.k + a constant of the row, by least squares over the keys that rows see.

    >>> query, key = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    >>> round(fit_scaling(query, key, torch.softmax(0.5 * torch.tensor([[[1.0, 3.0]]]), -1)), 4)
    0.5

    Without two visible keys in any row there is nothing to fit, and it is the usual one, one over the root of d.
    """
    together = squares = 0.0
    for dots, shares in _by_head(queries, keys, weights):
        seen = shares > 0
        dots, logs = (_centred(one, seen) for one in (dots, shares.log()))
        together += float((dots * logs).sum())
        squares += float(dots.square().sum())
    return together / squares if squares > 0 else float(queries.shape[-1]) ** -0.5


def logits_of(block: AttentionBlock) -> Tensor:
    """About what went into the softmax: (batch, head, row, key), zero where a row does not see a key.

    scaling * q.k and, where a bias or a cap stands between, what is missing of log weight, less its mean over the row.
    """
    weights, queries, keys = block.weights, block.queries, block.keys
    seen = weights > 0
    if queries is None or keys is None or (queries.shape[2], keys.shape[2]) != tuple(weights.shape[2:]):
        return _centred(weights.log(), seen)
    scaling = fit_scaling(queries[0], keys[0], weights[0])
    scaled = (scaling * queries.float() @ keys.mT).masked_fill(~seen, 0)
    return scaled + _centred(weights.log() - scaled, seen)


def what_stands_between(queries: Tensor, keys: Tensor, weights: Tensor, scaling: float, tolerance: float) -> str | None:
    """What else makes the weights than softmax(scaling q.k) over the keys that rows see, in a clause; None if nothing."""
    sink, changed, in_order = False, False, True
    for dots, shares in _by_head(queries, keys, weights):
        sums = shares.sum(-1, keepdim=True)
        sink |= bool((sums < 1 - tolerance).any())
        seen = shares > 0
        again = (scaling * dots).masked_fill(~seen, float("-inf")).softmax(-1).nan_to_num()
        changed |= bool((again - shares / sums.clamp(min=1e-30)).abs().max() > tolerance)
        in_order &= _same_order(dots, shares, seen)
    bent = "a soft cap or a scale of each head's own bends q.k"
    added = "a bias, of positions for one, is added to q.k"
    parts = [bent if in_order else added] * changed + ["a sink has a share in the softmax"] * sink
    return " and ".join(parts) or None


def _in_half(weights: Tensor) -> bool:
    """Whether these numbers came from half precision: models may cast before they multiply, and back after."""
    return any(torch.equal(weights, weights.to(half).to(weights)) for half in (torch.bfloat16, torch.float16))


def _by_head(queries: Tensor, keys: Tensor, weights: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """q.k and the weights (query, key) of each head, in float64: some rows of one at a time, so that long texts fit."""
    step = max(1, AT_ONCE // max(1, weights.shape[-1]))
    for head, shares in enumerate(weights):
        group = head * keys.shape[0] // queries.shape[0]
        for start in range(0, len(shares), step):
            rows = slice(start, start + step)
            yield queries[head, rows].double() @ keys[group].double().T, shares[rows].double()


def _centred(scores: Tensor, seen: Tensor) -> Tensor:
    """Less the row's mean over the keys it sees; zero elsewhere."""
    scores = scores.masked_fill(~seen, 0)
    mean = scores.sum(-1, keepdim=True) / seen.sum(-1, keepdim=True).clamp(min=1)
    return (scores - mean).masked_fill(~seen, 0)


def _same_order(dots: Tensor, shares: Tensor, seen: Tensor) -> bool:
    """Whether in every row a larger q.k never has a smaller weight."""
    order = dots.masked_fill(~seen, float("-inf")).argsort(-1)
    rising = shares.gather(-1, order)
    return bool((rising.diff(dim=-1) > -1e-6).all())
