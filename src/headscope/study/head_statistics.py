"""The numbers that a table has once for each head: what heads are sorted, filtered and coloured by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from headscope.lens.head import HEAD, Head

_INTERVALS = ("_low", "_high")


@dataclass(frozen=True)
class HeadStatistic:
    """A number for every head, out of a run: what heads are sorted and filtered by."""

    name: str
    title: str
    about: str
    values: dict[str, float]  # "encoder self 3.1" -> number


def head_statistics(name: str, table: pd.DataFrame) -> list[HeadStatistic]:
    """One for each column of numbers of a table that has one row a head; none for other tables."""
    if not set(HEAD) <= set(table.columns) or table.duplicated(HEAD).any():
        return []
    columns = [
        column
        for column in table.columns
        if column not in HEAD and not column.endswith(_INTERVALS) and pd.api.types.is_numeric_dtype(table[column])
    ]
    labels = [Head(*row).name for row in table[HEAD].itertuples(index=False)]
    return [
        HeadStatistic(
            f"{name}.{column}",
            column.replace("_", " ") if column.startswith(name) else f"{name}: {column}".replace("_", " "),
            "",
            {label: float(value) for label, value in zip(labels, table[column], strict=True) if _is_number(value)},
        )
        for column in columns
    ]


def _is_number(value: Any) -> bool:
    """Neither missing nor infinite: JSON has no word for these, and nobody sorts by them."""
    return bool(pd.notna(value)) and math.isfinite(value)
