"""What share of a head's attention goes to the first token, to each special token, to periods and commas."""

from __future__ import annotations

from torch import Tensor

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Fields, Statistic, ratio
from headscope.statistics.kit.key_masks import is_comma, is_period, is_special, keys_where, special_labels
from headscope.statistics.kit.totals import received, total
from headscope.statistics.registry import statistic


class Shares(Statistic):
    """A statistic whose columns are shares of the total that some keys receive."""

    fields: tuple[str, ...] = ("total",)

    def update(self, block: ScoreBlock) -> None:
        self.add("total", block.site, block.cached(total, self.measure))
        for name, amount in self.amounts(block, block.cached(received, self.measure)).items():
            self.add(name, block.site, amount)

    def amounts(self, block: ScoreBlock, received: Tensor) -> dict[str, Tensor]:
        """By column, what the keys of that column receive: (head,) each."""
        raise NotImplementedError

    def columns(self, fields: Fields) -> dict[str, Array]:
        return {name: ratio(fields[name], fields["total"]) for name in sorted(fields) if name != "total"}


@statistic
class FirstToken(Shares):
    """Share on the first token of the text: null attention (vig2019, section 5)."""

    name = "first_token"
    fields = ("total", "first_token")

    def amounts(self, block: ScoreBlock, received: Tensor) -> dict[str, Tensor]:
        return {"first_token": received[:, :, 0].sum(0)}


@statistic
class SpecialTokens(Shares):
    """Share on each special token ([CLS], [SEP], </s>, ...), one column each."""

    name = "special_tokens"

    def amounts(self, block: ScoreBlock, received: Tensor) -> dict[str, Tensor]:
        return {
            label: (received * keys_where(block, is_special, label)[:, None]).sum((0, 2))
            for label in special_labels(block.attended)
        }


@statistic
class Punctuation(Shares):
    """Share on periods and commas: exactly `.` and `,` (clark2019, section 3.2)."""

    name = "punctuation"
    fields = ("total", "period", "comma")

    def amounts(self, block: ScoreBlock, received: Tensor) -> dict[str, Tensor]:
        marks = {"period": is_period, "comma": is_comma}
        return {name: (received * keys_where(block, mark)[:, None]).sum((0, 2)) for name, mark in marks.items()}
