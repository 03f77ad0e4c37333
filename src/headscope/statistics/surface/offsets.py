"""Which position next to its own a head looks at: previous, same, next, or any fixed offset (clark2019, section 3.1)."""

from collections.abc import Sequence

import numpy as np

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.columns import Column, share_on
from headscope.statistics.kit.text_means import Averaged
from headscope.statistics.kit.totals import on_diagonal, total
from headscope.statistics.registry import statistic

NAMES = {-1: "previous", 0: "same", 1: "next"}


@statistic("offsets")
class Offsets(Averaged):
    """Share on the previous, the same and the next token, or on any fixed offsets.

    A row that has no such token counts 0 in the sum and as any other in the denominator.
    """

    offsets: Sequence[int] = (-1, 0, 1)

    sums = ("total",)
    per = "total"
    card_place = 20
    previous = share_on("Previous token", "the token just before", positional=True)
    same = share_on("Same token", "the very token that looks", "looks at itself more", positional=True)
    next = share_on("Next token", "the token just after", positional=True)

    @classmethod
    def column(cls, name: str) -> Column | None:
        offset = name.removeprefix("offset_")
        if offset == name:
            return super().column(name)
        return share_on(f"Offset {offset}", f"the token {offset} places on", positional=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.offsets = list(self.offsets)

    def begin(self) -> None:
        self.state |= {offset_name(offset): np.zeros(self.heads.count) for offset in self.offsets}

    def update(self, block: ScoreBlock) -> None:
        self.add(block.site, total=block.cached(total, self.measure))
        for offset in self.offsets:
            given = block.cached(on_diagonal, self.measure, offset)
            self.add(block.site, **{offset_name(offset): given.sum((0, 2))})


def offset_name(offset: int) -> str:
    """The column of an offset: `previous`, `same`, `next`, `offset_-2`, `offset_+3`."""
    return NAMES.get(offset, f"offset_{offset:+d}")
