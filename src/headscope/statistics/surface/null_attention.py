"""Null attention: what goes to the first token for want of anything better, and how to leave it out (vig2019, 5.2.3).

Left out means: in no numerator and in no denominator. Nothing is renormalised but entropy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from headscope.lens.score_block import ScoreBlock
from headscope.lens.site import Site
from headscope.statistics.base import Statistic
from headscope.statistics.kit.totals import given, given_beyond_first, received


def is_decoder_only(sites: Sequence[Site]) -> bool:
    """Whether a model is a decoder alone: then its heads park on the first token, even where that is an ordinary word."""
    return sites[0].stack == "decoder"


class NullFiltered(Statistic):
    """A statistic that can leave attention to the first token out: `without_first=True`."""

    def __init__(self, measure: str = "weight", level: str = "token", without_first: bool = False) -> None:
        super().__init__(measure, level)
        self.without_first = without_first

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "without_first": self.without_first}

    @property
    def table_name(self) -> str:
        return super().table_name + ("_without_first" if self.without_first else "")

    @property
    def first_key(self) -> int:
        """The first key that counts."""
        return int(self.without_first)

    def kept(self, block: ScoreBlock) -> Tensor:
        """The scores that count: (batch, head, row, key), from the first key that counts on."""
        return block.scores(self.measure)[..., self.first_key :]

    def kept_given(self, block: ScoreBlock) -> Tensor:
        """What every row gives to the keys that count: (batch, head, row)."""
        if not self.without_first:
            return block.cached(given, self.measure)
        return block.cached(given_beyond_first, self.measure)

    def kept_received(self, block: ScoreBlock) -> Tensor:
        """What every key that counts gets: (batch, head, key)."""
        return block.cached(received, self.measure)[..., self.first_key :]

    def kept_total(self, block: ScoreBlock) -> Tensor:
        """All scores of a head that count: (head,)"""
        return self.kept_received(block).sum((0, 2))
