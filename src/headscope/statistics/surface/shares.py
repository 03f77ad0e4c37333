"""What share of a head's attention goes to the first token, to each special token, to periods and commas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headscope.later import Tensor
from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Columns, Sums, ratio
from headscope.statistics.columns import Column, share_on
from headscope.statistics.kit.key_masks import is_comma, is_period, is_special, keys_where, special_labels
from headscope.statistics.kit.text_means import Averaged
from headscope.statistics.kit.totals import received, total
from headscope.statistics.registry import statistic


@dataclass
class Shares(Averaged):
    """A statistic whose columns are shares of the total that some keys receive."""

    sums: ClassVar[tuple[str, ...]] = ("total",)

    def update(self, block: ScoreBlock) -> None:
        self.add(block.site, total=block.cached(total, self.measure))
        self.add(block.site, **self.amounts(block, block.cached(received, self.measure)))

    def amounts(self, block: ScoreBlock, received: Tensor) -> dict[str, Tensor]:
        """By column, what the keys of that column receive: (head,) each."""
        raise NotImplementedError

    def columns(self, sums: Sums) -> Columns:
        return {name: ratio(sums[name], sums["total"]) for name in sorted(sums) if name != "total"}


@statistic("first_token")
class FirstToken(Shares):
    """Share on the first token of the text: null attention (vig2019, section 5)."""

    sums = ("total", "first_token")
    card_place = 30
    first_token = share_on("First token", "the first token of the text")

    def amounts(self, block: ScoreBlock, received: Tensor) -> dict[str, Tensor]:
        return {"first_token": received[:, :, 0].sum(0)}


@statistic("special_tokens")
class SpecialTokens(Shares):
    """Share on each special token ([CLS], [SEP], </s>, ...), one column each."""

    @classmethod
    def column(cls, name: str) -> Column:
        return share_on(name, name)

    def amounts(self, block: ScoreBlock, received: Tensor) -> dict[str, Tensor]:
        return {
            label: (received * keys_where(block, is_special, label)[:, None]).sum((0, 2))
            for label in block.attended.cached(special_labels)
        }


@statistic("punctuation")
class Punctuation(Shares):
    """Share on periods and commas: exactly `.` and `,` (clark2019, section 3.2)."""

    sums = ("total", "period", "comma")
    card_place = 40
    comma = share_on("Commas", "commas")
    period = share_on("Periods", "periods")

    def amounts(self, block: ScoreBlock, received: Tensor) -> dict[str, Tensor]:
        marks = {"period": is_period, "comma": is_comma}
        return {name: (received * keys_where(block, mark)[:, None]).sum((0, 2)) for name, mark in marks.items()}
