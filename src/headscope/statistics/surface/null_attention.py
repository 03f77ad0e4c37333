"""Null attention: what goes to the first token for want of anything better, and how to leave it out (vig2019, 5.2.3).

Left out means: in no numerator and in no denominator. Nothing is renormalised but entropy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headscope.later import Tensor
from headscope.lens import ScoreBlock, Site
from headscope.statistics.base import Statistic
from headscope.statistics.kit.row_sums import given, row_sums
from headscope.statistics.kit.totals import received
from headscope.statistics.registry import setting


def is_decoder_only(sites: Sequence[Site]) -> bool:
    """Whether a model is a decoder alone: then its heads' sink is the first token, even where that is an ordinary word."""
    return sites[0].stack == "decoder"


@dataclass
class NullFiltered(Statistic):
    """A statistic that can leave attention to the first token out: `without_first=True`."""

    without_first: bool = setting(
        False, said="without_first", title="without the first token", help="Leave out attention to the first token."
    )

    @property
    def first_key(self) -> int:
        """The first key that counts."""
        return int(self.without_first)

    def scores_in(self, block: ScoreBlock) -> Tensor:
        """The scores that count: (batch, head, row, key), from the first key that counts on."""
        return block.scores(self.measure)[..., self.first_key :]

    def given_in(self, block: ScoreBlock) -> Tensor:
        """What every row gives to the keys that count: (batch, head, row)."""
        return row_sums(block, self.measure).beyond_first if self.without_first else block.cached(given, self.measure)

    def received_in(self, block: ScoreBlock) -> Tensor:
        """What every key that counts gets: (batch, head, key)."""
        return block.cached(received, self.measure)[..., self.first_key :]

    def total_in(self, block: ScoreBlock) -> Tensor:
        """All scores of a head that count: (head,)"""
        return self.received_in(block).sum((0, 2))
