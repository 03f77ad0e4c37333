"""A run's numbers for every head, as the model view sorts and filters by them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd

from headscope.lens.head import HEAD, Head
from headscope.study.tables import load_table, table_names
from headscope.views.content import HeadStatistic

_INTERVALS = ("_low", "_high")


def head_statistics(run: str | Path) -> list[HeadStatistic]:
    """Every number that a run has once for each head: `entropy.entropy`, `distance.distance`, ..."""
    found = []
    for name in table_names(Path(run)):
        table = load_table(Path(run), name)
        if set(HEAD) <= set(table.columns) and not table.duplicated(HEAD).any():
            found += _of_table(name, table)
    return found


def _is_number(value: Any) -> bool:
    """Neither missing nor infinite: JSON has no word for these, and nobody sorts by them."""
    return bool(pd.notna(value)) and math.isfinite(value)


def _of_table(name: str, table: pd.DataFrame) -> list[HeadStatistic]:
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
