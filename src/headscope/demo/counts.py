"""Where each head's attention goes over a text, by weight and by norm: shares that are ratios of corpus sums.

The kinds of tokens are those of kobayashi2020 (appendix D.2); offsets and entropy are as in clark2019 (section 3).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from headscope.lens import AttentionBlock

MEASURES = ("weight", "norm")
OFFSETS = {"previous": -1, "same": 0, "next": 1}
KINDS = ("cls", "sep", "punctuation", "other")
PUNCTUATION = (".", ",")


def on_offset(scores: Tensor, first_row: int, offset: int) -> Tensor:
    """The sum of every query's score for the token `offset` places on: (batch, head, row, key) -> (head,)

    `first_row` is the position of the first row. A query without such a token adds nothing.
    """
    return scores.diagonal(first_row + offset, -2, -1).sum((0, 2))


def on_kinds(scores: Tensor, membership: Tensor) -> Tensor:
    """The sum of the scores for every kind of token: (batch, head, row, key), (batch, key, kind) -> (kind, head)"""
    return torch.einsum("bhrk,bkc->ch", scores, membership)


def entropy(weights: Tensor) -> Tensor:
    """The sum of the queries' entropies, in nats: (batch, head, row, key) -> (head,)"""
    return torch.special.entr(weights).sum((0, 2, 3))


def kind_of(token: str, special: bool) -> str:
    """
    >>> kind_of("[SEP]", True), kind_of(",", False), kind_of("!", False)
    ('sep', 'punctuation', 'other')
    """
    if special:
        return {"[CLS]": "cls", "[SEP]": "sep"}.get(token, "other")
    return "punctuation" if token in PUNCTUATION else "other"


def memberships(kinds: Sequence[Sequence[str]]) -> Tensor:
    """One-hot kinds of the tokens of a batch, zero at padding: (batch, key, kind)"""
    member = torch.zeros(len(kinds), max(map(len, kinds)), len(KINDS))
    for row, sequence in enumerate(kinds):
        for position, kind in enumerate(sequence):
            member[row, position, KINDS.index(kind)] = 1
    return member


class Counts:
    """Sums over a text for every head, (layer, head) each, and the shares that follow from them."""

    def __init__(self, layers: int, heads: int) -> None:
        def zeros() -> Tensor:
            return torch.zeros(layers, heads, dtype=torch.float64)

        self.sums = {measure: {target: zeros() for target in (*OFFSETS, *KINDS)} for measure in MEASURES}
        self.totals = {measure: zeros() for measure in MEASURES}
        self.entropy = zeros()
        self.most_entropy = zeros()  # what it would be if every query looked at all tokens alike

    def update(self, block: AttentionBlock) -> None:
        layer = block.site.layer
        sequences = block.batch.key_sequences(block.site)
        member = memberships([list(map(kind_of, sequence.tokens, sequence.special)) for sequence in sequences])
        for measure in MEASURES:
            scores = block.scores(measure)
            self.totals[measure][layer] += scores.sum((0, 2, 3))
            for name, offset in OFFSETS.items():
                self.sums[measure][name][layer] += on_offset(scores, block.rows.start, offset)
            for kind, received in zip(KINDS, on_kinds(scores, member.to(scores)), strict=True):
                self.sums[measure][kind][layer] += received
        self.entropy[layer] += entropy(block.weights)
        self.most_entropy[layer] += (block.row_mask.sum(-1) * block.key_mask.sum(-1).log()).sum()

    def shares(self, measure: str) -> dict[str, Tensor]:
        """The share of each target in all that a head gives out: (layer, head)"""
        return {target: received / self.totals[measure] for target, received in self.sums[measure].items()}

    def layer_shares(self, measure: str) -> dict[str, Tensor]:
        """The same for the heads of a layer together: (layer,)"""
        total = self.totals[measure].sum(1)
        return {target: received.sum(1) / total for target, received in self.sums[measure].items()}

    def breadth(self) -> Tensor:
        """The entropy of the weights as a part of the most there could be, 1 for a uniform head: (layer, head)"""
        return self.entropy / self.most_entropy
