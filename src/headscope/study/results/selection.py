"""Which rows and columns of a table are printed: those that are asked for, sorted, in blocks that fit a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headscope.errors import no_such
from headscope.later import pd
from headscope.lens.head import HEAD

BETWEEN = 2  # spaces between columns


def select(
    frame: pd.DataFrame,
    columns: Sequence[str] | None = None,
    *,
    sort: str | None = None,
    ascending: bool = False,
    top: int | None = None,
) -> pd.DataFrame:
    """Some columns, in their order, and the first rows by one of them: numbers from the largest on, unless `ascending`.

    >>> frame = pd.DataFrame({"layer": [0, 1, 2], "head": [3, 1, 2], "entropy": [1.0, 3.0, 2.0]})
    >>> select(frame, ["head", "entropy"], sort="entropy", top=2).values.tolist()
    [[1.0, 3.0], [2.0, 2.0]]
    """
    for name in [*(columns or ()), *([] if sort is None else [sort])]:
        if name not in frame:
            raise no_such("column", name, list(frame), "The table")
    if sort is not None:
        upwards = ascending or sort in HEAD or not pd.api.types.is_numeric_dtype(frame[sort])
        frame = frame.sort_values(sort, ascending=upwards, kind="stable", na_position="last")
    frame = frame if top is None else frame.head(top)
    return frame.reset_index(drop=True)[list(dict.fromkeys(columns or frame.columns))]  # each once


def blocks(widths: Mapping[str, int], width: int) -> list[list[str]]:
    """Columns, by how wide they are, side by side as far as they fit: what says which row it is stands first in each block.

    A column stays beside its interval. A block has at least one column of its own, however wide it is.

    >>> blocks({"layer": 5, "head": 4, "entropy": 7, "entropy_low": 11, "entropy_high": 12, "share": 5}, 50)
    [['layer', 'head', 'entropy', 'entropy_low', 'entropy_high'], ['layer', 'head', 'share']]
    """
    labels = [name for name in widths if name in HEAD]
    families: dict[str, list[str]] = {}
    for name in widths:
        if name not in labels:
            of = name.removesuffix("_low").removesuffix("_high")
            families.setdefault(of if of in widths else name, []).append(name)
    taken = sum(widths[name] + BETWEEN for name in labels)
    found: list[list[str]] = []
    room = 0
    for family in families.values():
        parts = [family] if taken + _wide(family, widths) <= width else [[name] for name in family]
        for part in parts:
            if not found or _wide(part, widths) > room:
                found.append([*labels])
                room = width - taken
            found[-1] += part
            room -= _wide(part, widths)
    return found or [labels]


def _wide(names: Sequence[str], widths: Mapping[str, int]) -> int:
    return sum(widths[name] + BETWEEN for name in names)
