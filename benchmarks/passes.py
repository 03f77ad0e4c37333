"""Batches of a corpus through a model: through the plain one, and through a lens as a study counts its shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

import headscope
from benchmarks.rows import Row, Target
from benchmarks.timing import alternate, as_ratios
from headscope.lens.tokens.batch import Batch
from headscope.statistics.base import Statistic, settle_all
from headscope.study.count import update
from headscope.study.side_by_side import copies_for, side_by_side

PLAIN = "plain SDPA forward"
BESIDE = "plain SDPA forward, shards side by side"

Shards = Sequence[Sequence[Batch]]


def compared(
    things: Mapping[str, Callable[[], None]],
    lens: headscope.Lens,
    plain: torch.nn.Module,
    shards: Shards,
    repeats: int,
    targets: Mapping[str, Target],
    **options: Any,
) -> list[Row]:
    """Rows that compare passes with the plain one over the same batches: one after another, as a script of ten lines has it.

    A study works on shards side by side, so that has a row of its own: what of a ratio is due to it can be seen.
    """
    whole = {
        PLAIN: lambda: [forward(plain, batches, **options) for batches in shards],
        BESIDE: lambda: _side_by_side(lambda batches: forward(plain, batches, **options), shards, lens),
    }
    return as_ratios(alternate({**whole, **things}, repeats), PLAIN, targets)


def count(lens: headscope.Lens, shards: Shards, statistics: Sequence[Statistic]) -> None:
    """What a study does with its shards, once their texts are tokens."""

    def count_one(batches: Sequence[Batch]) -> None:
        started = [statistic.start(lens.sites) for statistic in statistics]
        for batch in batches:
            update(lens, fresh(batch), started)
        settle_all(started)

    _side_by_side(count_one, shards, lens)


def _side_by_side(work: Callable[[Sequence[Batch]], None], shards: Shards, lens: headscope.Lens) -> None:
    copies = copies_for(lens, len(shards))
    if copies == 1:
        for batches in shards:
            work(batches)
        return
    for _ in side_by_side(lambda place: work(shards[place]), range(len(shards)), copies):
        pass


def forward(model: torch.nn.Module, batches: Sequence[Batch], **options: Any) -> None:
    """All of them through the plain model."""
    with torch.inference_mode():
        for batch in batches:
            model(**batch.inputs, **options)


def fresh(batch: Batch) -> Batch:
    """The batch with nothing derived yet: a corpus meets every batch once."""
    return Batch(batch.inputs, batch.sources, batch.targets, batch.documents)
