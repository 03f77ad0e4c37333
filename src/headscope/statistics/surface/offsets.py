"""Which position next to its own a head looks at: previous, same, next, or any fixed offset (clark2019, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Fields, Statistic, ratio
from headscope.statistics.kit.totals import total
from headscope.statistics.registry import statistic

NAMES = {-1: "previous", 0: "same", 1: "next"}


@statistic
class Offsets(Statistic):
    """Share on the previous, the same and the next token, or on any fixed offsets.

    A row that has no such token counts 0 in the sum and as any other in the denominator.
    """

    name = "offsets"

    def __init__(self, measure: str = "weight", level: str = "token", offsets: Sequence[int] = (-1, 0, 1)) -> None:
        super().__init__(measure, level)
        self.offsets = tuple(offsets)
        self.fields = ("total", *map(offset_name, self.offsets))

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "offsets": list(self.offsets)}

    def update(self, block: ScoreBlock) -> None:
        scores = block.scores(self.measure)
        self.add("total", block.site, block.cached(total, self.measure))
        for offset in self.offsets:
            diagonal = scores.diagonal(block.rows.start + offset, dim1=2, dim2=3)
            self.add(offset_name(offset), block.site, diagonal.sum((0, 2)))

    def columns(self, fields: Fields) -> dict[str, Array]:
        return {name: ratio(fields[name], fields["total"]) for name in fields if name != "total"}


def offset_name(offset: int) -> str:
    """The column of an offset: `previous`, `same`, `next`, `offset_-2`, `offset_+3`."""
    return NAMES.get(offset, f"offset_{offset:+d}")
