"""Word alignments out of attention: a target word gets the source word with the highest score (kobayashi2020, 5.1)."""

from __future__ import annotations

from torch import Tensor

from headscope.lens.block import AttentionBlock
from headscope.statistics.alignment.sides import sides_of


class Picker:
    """Takes a site's blocks one after another, and has its choice when they are complete (eq. 5 and 6)."""

    def __init__(self, setting: str, measure: str) -> None:
        self.setting, self.measure = setting, measure
        self._sum: Tensor | None = None  # batch head target-word column, of the blocks so far

    def __call__(self, block: AttentionBlock) -> Tensor | None:
        """The source word of each target word, (batch, head, target word), at a site's last block; else None."""
        sides = sides_of(block.batch)
        part = sides.merged(block.scores(self.measure), self.setting, block.rows)
        self._sum = part if block.rows.start == 0 or self._sum is None else self._sum + part
        if block.rows.stop < block.batch.query_length(block.site):
            return None
        found, self._sum = sides.choose(self._sum), None
        return found
