"""What the name of a table says: the statistic, its measure, whether it counts words, what is left out."""

from __future__ import annotations

from dataclasses import dataclass

from headscope.measures import MEASURES
from headscope.statistics import STATISTICS

OTHERS = ("repeats",)  # tables of one row a head that no statistic makes
_LEVELS = {"words": "in words"}
_LEFT_OUT = {"without_first": "without the first token"}


@dataclass(frozen=True)
class TableName:
    """The parts of a table's name; `rest` is what tells variants apart."""

    statistic: str
    measure: str = "weight"
    words: bool = False
    without_first: bool = False
    rest: str = ""

    @property
    def qualified(self) -> str:
        """What follows a title: `, by norm, in words`; nothing for weights and tokens."""
        parts = [f"by {self.measure.replace('_', ' ')}"] if self.measure != "weight" else []
        parts += [said for said, holds in ((_LEVELS["words"], self.words), (self._left_out, self.without_first)) if holds]
        parts += [self.rest.replace("_", " ")] if self.rest else []
        return "".join(f", {part}" for part in parts)

    _left_out = _LEFT_OUT["without_first"]


def parse(table: str) -> TableName | None:
    """The parts of a table's name; None for one that no statistic makes, such as a paper's.

    >>> parse("entropy_norm_words")
    TableName(statistic='entropy', measure='norm', words=True, without_first=False, rest='')
    >>> parse("clark2019_fig1") is None
    True
    """
    known = [name for name in (*STATISTICS, *OTHERS) if table == name or table.startswith(f"{name}_")]
    if not known:
        return None
    statistic = max(known, key=len)
    rest = table.removeprefix(statistic).removeprefix("_")
    without_first = rest.endswith("without_first")
    rest = rest.removesuffix("without_first").strip("_")
    measure = next((name for name in sorted(MEASURES, key=len, reverse=True) if f"{rest}_".startswith(f"{name}_")), "weight")
    rest = rest.removeprefix(measure).strip("_") if measure != "weight" else rest
    words = rest == "words" or rest.startswith("words_")
    return TableName(statistic, measure, words, without_first, rest.removeprefix("words").strip("_") if words else rest)
