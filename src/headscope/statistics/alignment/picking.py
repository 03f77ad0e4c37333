"""Word alignments out of attention: a target word gets the source word with the highest score (kobayashi2020, 5.1)."""

from __future__ import annotations

from headscope.later import Tensor
from headscope.lens.score_block import ScoreBlock
from headscope.statistics.alignment.sides import sides_of
from headscope.statistics.kit.site_rows import SiteRows


class Picker:
    """Takes a site's blocks one after another, and has its choice when they are complete (eq. 5 and 6)."""

    def __init__(self, setting: str, measure: str) -> None:
        self.setting, self.measure = setting, measure
        self._merged = SiteRows[Tensor]()  # batch head target-word column

    def __call__(self, block: ScoreBlock) -> Tensor | None:
        """The source word of each target word, (batch, head, target word), at a site's last block; else None."""
        sides = block.batch.cached(sides_of)
        merged = self._merged.complete(block, sides.merged(block.scores(self.measure), self.setting, block.rows))
        return None if merged is None else sides.choose(merged)
