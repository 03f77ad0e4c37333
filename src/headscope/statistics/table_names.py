"""The names of tables: the statistic, and what is said of its settings (settings.py). One rule makes and parses them."""

from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from headscope.statistics.registry import STATISTICS, rules_of

if TYPE_CHECKING:
    from headscope.statistics.base import Statistic

OTHERS: set[str] = set()  # tables of one row a head that no statistic makes; `columns.declare` adds them


@dataclass(frozen=True)
class TableName:
    """The parts of a table's name; `settings` are those that it says, `rest` is what none of them says."""

    statistic: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    rest: str = ""

    @property
    def measure(self) -> str:
        return str(self.settings.get("measure", "weight"))

    @property
    def level(self) -> str:
        return str(self.settings.get("level", "token"))

    @property
    def qualified(self) -> str:
        """What follows a title: `, by norm, in words`; nothing for what is usual."""
        cls = STATISTICS.get(self.statistic)
        said = {} if cls is None else {one.name: rules_of(one).title for one in fields(cls)}
        parts = [said[name].format(value).replace("_", " ") for name, value in self.settings.items()]
        return "".join(f", {part}" for part in (*parts, self.rest.replace("_", " ")) if part)


def table_name(statistic: "Statistic") -> str:
    """Its name, and what is said of its settings, in their order."""
    said = [_said(one, getattr(statistic, one.name)) for one in fields(statistic)]
    return "_".join([statistic.name, *filter(None, said)])


def parse(table: str) -> TableName | None:
    """The parts of a table's name; None for one that no statistic makes, such as a paper's.

    >>> parse("entropy_norm_words")
    TableName(statistic='entropy', settings={'measure': 'norm', 'level': 'word'}, rest='')
    >>> parse("clark2019_fig1") is None
    True
    """
    known = [name for name in (*STATISTICS, *OTHERS) if f"{table}_".startswith(f"{name}_")]
    if not known:
        return None
    statistic = max(known, key=len)
    rest, settings = table.removeprefix(statistic).removeprefix("_"), {}
    for one in fields(STATISTICS[statistic]) if statistic in STATISTICS else ():
        for said, value in sorted(_possible(one), key=lambda pair: len(pair[0]), reverse=True):
            if f"{rest}_".startswith(f"{said}_"):
                rest, settings[one.name] = rest.removeprefix(said).removeprefix("_"), value
                break
    return TableName(statistic, settings, rest)


def _said(one: Field[Any], value: Any) -> str:
    """What a name says of a setting with this value: nothing, where it is the usual one."""
    rules = rules_of(one)
    return rules.said.format(value) if rules.said and (rules.always or value != one.default) else ""


def _possible(one: Field[Any]) -> Iterator[tuple[str, Any]]:
    """All that a name can say of a setting, with the value that it stands for."""
    values = (True, False) if isinstance(one.default, bool) else rules_of(one).one_of
    return ((said, value) for value in values if (said := _said(one, value)))
