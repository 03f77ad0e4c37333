"""Which heads are taken away together: each by itself, whole layers, sets, and one after the other by a number of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headscope.errors import InputError, no_such
from headscope.lens.head import Head, heads_named, heads_of
from headscope.lens.lens import Lens
from headscope.lens.site import Site
from headscope.study.run import Run


@dataclass(frozen=True)
class Removals:
    """Plain data: by the table that they are for, sets of heads."""

    by_table: dict[str, list[tuple[Head, ...]]]

    @property
    def every(self) -> list[tuple[Head, ...]]:
        """Each set once, in order."""
        return list(dict.fromkeys(some for table in self.by_table.values() for some in table))


def removable(lens: Lens) -> list[Site]:
    """The attentions whose heads can be taken away."""
    return [found.site for found in lens.trace.sites if found.projection is not None and not found.projection.shared]


def single_heads(sites: Sequence[Site]) -> list[tuple[Head, ...]]:
    return [(head,) for site in sites for head in heads_of(site)]


def whole_layers(sites: Sequence[Site]) -> list[tuple[Head, ...]]:
    return [tuple(heads_of(site)) for site in sites]


def sets_named(sets: Sequence[str], sites: Sequence[Site]) -> list[tuple[Head, ...]]:
    """`1.3, 1.0` is one set; `4` a whole layer."""
    return [tuple(heads_named([name for name in some.split(",") if name.strip()], sites)) for some in sets]


def curve(order: Sequence[Head]) -> list[tuple[Head, ...]]:
    """The first head of an order, the first two, four, ...: about four steps for each doubling from then on."""
    steps = {round(2 ** (step / 4)) for step in range(4 * math.ceil(math.log2(max(2, len(order)))) + 1)}
    return [tuple(order[:step]) for step in sorted(steps | {len(order)}) if step <= len(order)]


def order_by(column: str, run: Run | str | Path, sites: Sequence[Site]) -> list[Head]:
    """The heads of a run by a column of it, `table.column`, the largest first; with `-` before it, the smallest first."""
    opened = Run.open(run)
    known = {statistic.name: statistic.values for statistic in opened.head_statistics}
    values = known.get(column.removeprefix("-"))
    if values is None:
        raise no_such("column", column, list(known), str(opened.folder))
    heads = [head for site in sites for head in heads_of(site) if head.name in values]
    if not heads:
        raise InputError(f"{opened.folder} has no head of this model in {column}: it is another model's run.")
    sign = 1 if column.startswith("-") else -1
    return sorted(heads, key=lambda head: sign * values[head.name])
