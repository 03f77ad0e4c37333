"""What share of a head's attention goes to the first token, to each special token, to periods and commas."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from headscope.lens.block import AttentionBlock
from headscope.statistics.base import Array, Fields, Statistic, ratio
from headscope.statistics.kit.key_masks import keys_where, special_labels, surface
from headscope.statistics.kit.totals import received, total
from headscope.statistics.registry import statistic


class Shares(Statistic):
    """A statistic whose columns are shares of the total that some keys receive."""

    fields: tuple[str, ...] = ("total",)

    def update(self, block: AttentionBlock) -> None:
        self.add("total", block.site, total(block, self.measure))
        for name, amount in self.amounts(block, received(block, self.measure)).items():
            self.add(name, block.site, amount)

    def amounts(self, block: AttentionBlock, received: Tensor) -> dict[str, Tensor]:
        """By column, what the keys of that column receive: (head,) each."""
        raise NotImplementedError

    def columns(self, fields: Fields) -> dict[str, Array]:
        return {name: ratio(fields[name], fields["total"]) for name in sorted(fields) if name != "total"}


@statistic
class FirstToken(Shares):
    """Share on the first token of the text: null attention (vig2019, section 5)."""

    name = "first_token"
    fields = ("total", "first_token")

    def amounts(self, block: AttentionBlock, received: Tensor) -> dict[str, Tensor]:
        return {"first_token": received[:, :, 0].sum(0)}


@statistic
class SpecialTokens(Shares):
    """Share on each special token ([CLS], [SEP], </s>, ...), one column each."""

    name = "special_tokens"

    def amounts(self, block: AttentionBlock, received: Tensor) -> dict[str, Tensor]:
        return {
            label: (received * keys_where(block, f"special {label}", _is(label))[:, None]).sum((0, 2))
            for label in special_labels(block)
        }


@statistic
class Punctuation(Shares):
    """Share on periods and commas: exactly `.` and `,` (clark2019, section 3.2)."""

    name = "punctuation"
    fields = ("total", "period", "comma")

    def amounts(self, block: AttentionBlock, received: Tensor) -> dict[str, Tensor]:
        periods = keys_where(block, "period", lambda label, special: surface(label) == "." and not special)
        commas = keys_where(block, "comma", lambda label, special: surface(label) == "," and not special)
        return {
            "period": (received * periods[:, None]).sum((0, 2)),
            "comma": (received * commas[:, None]).sum((0, 2)),
        }


def _is(wanted: str) -> Callable[[str, bool], bool]:
    return lambda label, special: special and label == wanted
