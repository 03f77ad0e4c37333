"""A run's tables, head by head: any table may be missing, and what is missing is not a number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from headscope.later import pd
from headscope.lens.head import HEAD, Head
from headscope.statistics.table_names import parse

MEASURES = ("weight", "norm")  # a run that has only norms is read by norms
LEVELS = ("token", "word")


@dataclass(frozen=True)
class HeadStatistic:
    """A number for every head, out of a run: what heads are sorted and filtered by."""

    name: str
    title: str
    about: str
    values: dict[str, float]  # "encoder self 3.1" -> number


class Cell(NamedTuple):
    """A number, and where it stands; not a number where no table has it."""

    value: float
    table: str = ""
    column: str = ""

    @property
    def is_known(self) -> bool:
        return not math.isnan(self.value)

    @property
    def by_norm(self) -> bool:
        name = parse(self.table)
        return "norm" in self.column.split("_") or (name is not None and name.measure == "norm")


MISSING = Cell(math.nan)


class RunByHead:
    """Looks numbers up by head, table and column.

    >>> found = RunByHead({"entropy": pd.DataFrame([["encoder", "self", 0, 1, 0.5]], columns=[*HEAD, "entropy"])})
    >>> found.cell(found.heads[0], "entropy", "entropy")
    Cell(value=0.5, table='entropy', column='entropy')
    >>> found.label(found.heads[0])
    '0.1'
    """

    def __init__(self, tables: Mapping[str, pd.DataFrame]) -> None:
        self.all_tables = tables
        self.tables = {name: _of_heads(table) for name, table in tables.items() if set(HEAD) <= set(table.columns)}
        self._named = {key: table for table in self.tables if (key := _key(table)) is not None}
        self._groups: dict[str, dict[Head, pd.DataFrame]] = {}
        self._rows: dict[str, dict[Head, dict[str, Any]]] = {}
        for name, table in self.tables.items():
            if not table.duplicated(HEAD).any():
                self._rows[name] = {Head.of(row): row for row in table.to_dict("records")}

    @cached_property
    def heads(self) -> list[Head]:
        """Every head that some table has: encoders first, then layer by layer."""
        found = {Head.of(row) for table in self.tables.values() for row in table[HEAD].drop_duplicates().to_dict("records")}
        return sorted(found, key=lambda head: (head.stack != "encoder", head.kind != "self", head.layer, head.head))

    @cached_property
    def _alone(self) -> bool:
        return len({(head.stack, head.kind) for head in self.heads}) == 1

    def label(self, head: Head) -> str:
        """`layer.head`; an encoder-decoder's have their stack before them, since each has a 0.0."""
        if self._alone:
            return head.label
        return f"{'cross' if head.kind == 'cross' else head.stack} {head.label}"

    @property
    def one_row_a_head(self) -> list[str]:
        """The tables that have one row a head, by name."""
        return [name for name, rows in self._rows.items() if rows]

    @cached_property
    def statistics(self) -> list[HeadStatistic]:
        """Every number that there is once for each head: `entropy.entropy`, `distance.distance`, ..."""
        return [
            self._statistic(table, str(column))
            for table in self.one_row_a_head
            for column in self.tables[table].columns
            if column not in HEAD
            and not column.endswith(("_low", "_high"))
            and pd.api.types.is_numeric_dtype(self.tables[table][column])
        ]

    def _statistic(self, table: str, column: str) -> HeadStatistic:
        title = column if column.startswith(table) else f"{table}: {column}"
        values = {head.name: self.cell(head, table, column).value for head in self._rows[table]}
        finite = {name: value for name, value in values.items() if math.isfinite(value)}  # JSON has no word for others
        return HeadStatistic(f"{table}.{column}", title.replace("_", " "), "", finite)

    def cell(self, head: Head, table: str, column: str) -> Cell:
        """A number of a table by its full name."""
        value = self._rows.get(table, {}).get(head, {}).get(column)
        return MISSING if not _is_number(value) else Cell(float(value), table, column)  # type: ignore[arg-type]

    def lookup(self, head: Head, *places: tuple[str, str], norm: bool = False) -> Cell:
        """The first of some (statistic, column) that there is, in tokens or words; by norm alone if `norm`."""
        cells = (
            self.cell(head, self._named[statistic, measure, level], column)
            for measure in (MEASURES[1:] if norm else MEASURES)
            for statistic, column in places
            for level in LEVELS
            if (statistic, measure, level) in self._named
        )
        return next((cell for cell in cells if cell.is_known), MISSING)

    def table_name(self, statistic: str) -> str | None:
        """The name of a statistic's table, for one that has several rows a head."""
        names = (self._named.get((statistic, measure, level)) for measure in MEASURES for level in LEVELS)
        return next((name for name in names if name is not None), None)

    def rows(self, table: str | None, head: Head) -> pd.DataFrame:
        """All rows of a head in a table that may have several."""
        if table is None:
            return pd.DataFrame(columns=HEAD)
        if table not in self._groups:
            groups = self.tables[table].groupby(HEAD, sort=False)
            self._groups[table] = {Head.of(rows.iloc[0]): rows for _, rows in groups}
        return self._groups[table].get(head, self.tables[table].iloc[:0])


def _key(table: str) -> tuple[str, str, str] | None:
    """Statistic, measure and level; none for what no statistic makes, or one with other settings than usual."""
    name = parse(table)
    if name is None or name.rest or not set(name.settings) <= {"measure", "level"}:
        return None
    return name.statistic, name.measure, name.level


def _of_heads(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that are of one head: joint measures have none."""
    return table[table["head"].notna() & table["layer"].notna()]


def _is_number(value: object) -> bool:
    return value is not None and value is not pd.NA and not isinstance(value, (str, bool)) and value == value
