"""Two texts with norms that a person can check, and a statistic's row for them."""

from __future__ import annotations

from dataclasses import replace

from headscope.lens.block import AttentionBlock
from headscope.statistics.base import Statistic
from tests.statistics.tester import SITE, block_by_hand

_SITE = replace(SITE, projection="W_O")
ONE = block_by_hand(
    [[0.5, 0.0, 0.5], [0.25, 0.25, 0.5], [0.0, 1.0, 0.0]],
    ["[CLS]", "a", "[SEP]"],
    [True, False, True],
    site=_SITE,
    norms=[2.0, 1.0, 4.0],
)
OTHER = block_by_hand([[0.5, 0.5], [0.0, 1.0]], ["[CLS]", "."], [True, False], site=_SITE, norms=[4.0, 1.0])


def table_of(statistic: Statistic, *blocks: AttentionBlock) -> dict[str, float]:
    fresh = statistic.start([blocks[0].site])
    for block in blocks:
        fresh.update(block)
    return fresh.table().iloc[0].to_dict()
