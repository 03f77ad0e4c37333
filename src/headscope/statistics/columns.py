"""What the columns of a run's tables are, for people who meet them for the first time.

A statistic says it where it computes them, in class attributes; here it is found again by the table's name.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from headscope.statistics.registry import STATISTICS
from headscope.statistics.table_names import OTHERS, parse

SHARE, ACCURACY, NATS, TOKENS, LENGTH, COUNT, RATIO = "share", "accuracy", "nats", "tokens", "length", "count", "ratio"


@dataclass(frozen=True)
class Column:
    """What a column is called and what it says; `more` is what a larger number means."""

    title: str
    unit: str
    says: str
    more: str
    of_heads: bool = True  # whether it tells heads apart, and so belongs on a card
    positional: bool = False  # whether it compares places in one text
    unit_of_norms: str = ""  # where the measure is not the weight, if it is another

    def tells_of(self, kind: str) -> bool:
        """Whether it says something of a head: places in two texts have nothing to do with each other."""
        return self.of_heads and not (self.positional and kind == "cross")


def share_on(title: str, what: str, more: str = "looks there more", *, positional: bool = False) -> Column:
    """A share of all that a head gives.

    >>> share_on("Commas", "commas").title
    'Commas, share of all attention'
    """
    says = f"The part of all the head's attention that goes to {what}."
    return Column(f"{title}, share of all attention", SHARE, says, more, positional=positional)


@dataclass(frozen=True)
class _Declared:
    columns: Mapping[str, Column]
    card_place: float


_DECLARED: dict[str, _Declared] = {}
_LABELS = {
    "stack": "Encoder or decoder",
    "kind": "Self attention, or cross attention from decoder to encoder",
    "layer": "Layer, from 0",
    "head": "Head, from 0",
    "other_layer": "Layer of the other head",
    "other_head": "The other head",
    "relation": "Syntactic relation",
    "direction": "Which of the two words looks",
    "tag": "Part of speech",
    "rank": "Place, the strongest first",
}


def declare(table: str, columns: Mapping[str, Column], card_place: float = math.inf) -> None:
    """What the columns of a table are that no statistic makes."""
    OTHERS.add(table)
    _DECLARED[table] = _Declared(columns, card_place)


def describe(table: str, column: str) -> Column | None:
    """What is known of a column; None for one that has no description.

    >>> describe("beyond_sinks_norm", "previous").title
    'Previous token, share beyond sinks, by norm'
    """
    name = parse(table)
    if name is None or column in _LABELS:
        return None
    for ending, which in (("_low", "lower"), ("_high", "upper")):
        of = describe(table, column.removesuffix(ending)) if column.endswith(ending) else None
        if of is not None:
            says = f"The {which} end of the 95 % interval: {of.says[0].lower()}{of.says[1:]}"
            return replace(of, title=f"{of.title}, {which} end", says=says, of_heads=False)
    declared = _DECLARED.get(name.statistic)
    found = STATISTICS[name.statistic].column(column) if declared is None else declared.columns.get(column)
    if found is None:
        return None
    unit = found.unit if name.measure == "weight" else found.unit_of_norms or found.unit
    return replace(found, title=f"{found.title}{name.qualified}", unit=unit)


def card_place(table: str) -> float:
    """Where a table's numbers stand on a card: the smaller, the earlier."""
    name = parse(table)
    if name is None:
        return math.inf
    declared = _DECLARED.get(name.statistic)
    return STATISTICS[name.statistic].card_place if declared is None else declared.card_place


def column_title(table: str, column: str) -> str:
    """A column's title; its own name, made readable, where nothing is known of it."""
    if column in _LABELS:
        return column.replace("_", " ").capitalize()
    found = describe(table, column)
    return found.title if found is not None else column.replace("_", " ")


def column_about(table: str, column: str) -> str:
    """One line that explains a column; empty where nothing is known of it."""
    if column in _LABELS:
        return f"{_LABELS[column]}."
    found = describe(table, column)
    return found.says if found is not None else ""


def table_title(table: str) -> str:
    """A table's title: the statistic's name, with its measure and level; a paper's own name as it is."""
    name = parse(table)
    return table if name is None else f"{name.statistic.replace('_', ' ').capitalize()}{name.qualified}"


def table_about(table: str) -> str:
    """What a table's statistic counts, in one line; empty for a paper's."""
    name = parse(table)
    known = STATISTICS.get(name.statistic) if name is not None else None
    return known.about if known is not None else ""
