"""A run's tables as a page carries them: columns with titles, rows of plain values, and how many there are in all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from headscope.later import pd
from headscope.report.heads.exemplars import source_of
from headscope.report.schema import Cell, Column, Table
from headscope.statistics.columns import column_about, column_title, table_about, table_title

ROWS = 2000  # of a table; the command line has the others
EXACT = 2**53  # a page counts in doubles: larger integers (hashes of texts) travel as text

OF_TWO = {"_a": ", A", "_b": ", B", "_difference": ", B − A"}  # columns of two runs side by side (study.compare)


def described_table(name: str, frame: pd.DataFrame, titles: Mapping[str, str], *, compared: bool = False) -> Table:
    """One table; `titles` are those that a paper's run gives to its own; `compared`: of two runs side by side."""
    columns: list[Column] = []
    for column in frame.columns:
        title, about = _explained(name, str(column), compared)
        numeric = bool(pd.api.types.is_numeric_dtype(frame[column]))
        columns.append({"name": str(column), "title": title, "about": about, "numeric": numeric})
    values = [[_shown(column, value) for value in frame[column].iloc[:ROWS]] for column in frame.columns]
    return {
        "name": name,
        "title": titles.get(name) or table_title(name),
        "about": table_about(name),
        "columns": columns,
        "rows": [list(row) for row in zip(*values, strict=True)],
        "total": len(frame),
        "compared": compared,
    }


def _explained(table: str, column: str, compared: bool) -> tuple[str, str]:
    """A column's title, and a line about it."""
    for ending, said in OF_TWO.items() if compared else ():
        if column.endswith(ending):
            own = column.removesuffix(ending)
            return f"{column_title(table, own)}{said}", column_about(table, own)
    return column_title(table, column), column_about(table, column)


def _shown(column: object, value: Any) -> Cell:
    cell = plain(value)
    return source_of(cell) if str(column).lower() == "source" and isinstance(cell, str) else cell


def plain(value: Any) -> Cell:
    """A cell as JSON has it; what is missing, or is no number, is null.

    >>> plain(float("nan")), plain(2**60), plain(0.5), plain("word")
    (None, '1152921504606846976', 0.5, 'word')
    """
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value) if abs(int(value)) < EXACT else str(int(value))
    if isinstance(value, Real):
        return float(value) if math.isfinite(float(value)) else None
    return str(value)
