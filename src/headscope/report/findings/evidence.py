"""Numbers in sentences, each with where it stands, so that anyone can look it up, and a test can compute it again."""

from __future__ import annotations

from typing import Any

from headscope.later import pd
from headscope.lens.head import Head
from headscope.report.schema import Number


def percent(share: float) -> str:
    """A share as people read it.

    >>> percent(0.987), percent(0.0151), percent(0.0)
    ('99%', '1.5%', '0.0%')
    """
    return f"{share:.0%}" if abs(share) >= 0.0995 else f"{share:.1%}"


def plain(value: float, unit: str) -> str:
    """A number in its unit.

    >>> plain(0.93, "share"), plain(12.345, "tokens"), plain(1.234, "nats"), plain(1234, "count")
    ('93%', '12.3 tokens', '1.23 nats', '1,234')
    """
    forms = {"tokens": "{:.1f} tokens", "count": "{:,.0f}", "nats": "{:.2f} nats"}
    return percent(value) if unit in ("share", "accuracy") else forms.get(unit, "{:.2f}").format(value)


class Evidence:
    """Writes numbers down as they are put into a sentence.

    A number is `value`, the `table` and `column` (or an expression of columns) that it is in, what it is `of` these (the
    one cell, or the mean, median or count of the rows), and the `where` that picks the rows.
    """

    def __init__(self, run: str | None = None) -> None:
        self.cited: list[Number] = []
        self.run = run  # "a" or "b", where two runs are compared

    def cite(self, value: float, table: str, column: str, head: Head | None = None, of: str = "cell", **where: Any) -> float:
        """Write a number down, and give it back."""
        rows = {**(head._asdict() if head is not None else {}), **where}
        number: Number = {"value": float(value), "table": table, "column": column, "of": of, "where": rows}
        if self.run is not None:
            number["run"] = self.run
        self.cited.append(number)
        return value

    def percent(self, value: float, table: str, column: str, head: Head | None = None, **rest: Any) -> str:
        return percent(self.cite(value, table, column, head, **rest))

    def count(self, rows: pd.DataFrame, table: str, **where: Any) -> str:
        """How many rows there are; `where` must pick the same ones."""
        return f"{self.cite(len(rows), table, '', of='count', **where):,}"
