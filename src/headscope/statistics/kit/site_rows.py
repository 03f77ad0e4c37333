"""What follows from all rows of a site: its blocks have some of them each, so the first wait for the last."""

import operator
from collections.abc import Callable
from typing import Generic, TypeVar

from headscope.lens import ScoreBlock, Site

Part = TypeVar("Part")


class SiteRows(Generic[Part]):
    """Joins what the blocks of a site bring, one after another, until they are complete."""

    def __init__(self, join: Callable[[Part, Part], Part] = operator.add) -> None:
        self.join = join  # what the rows before brought, and what a block brings
        self._waiting: dict[Site, Part] = {}

    def complete(self, block: ScoreBlock, part: Part) -> Part | None:
        """What all rows bring together, at the last block of a site; None before."""
        if not block.is_first:
            part = self.join(self._waiting.pop(block.site), part)
        if block.is_last:
            return part
        self._waiting[block.site] = part
        return None
