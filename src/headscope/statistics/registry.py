"""The statistics by name, so that a new file is known to the command line, and what their settings may be.

A setting is a field that says what it may be, and how a table's name and title speak of it.
"""

from collections.abc import Callable, Collection
from dataclasses import Field, dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

from headscope.errors import InputError

if TYPE_CHECKING:
    from headscope.statistics.base import Statistic

Kind = TypeVar("Kind", bound="Statistic")


class Statistics(dict[str, "type[Statistic]"]):
    """A dictionary whose missing keys are explained."""

    def __missing__(self, name: str) -> "type[Statistic]":
        raise InputError(f"There is no statistic {name!r}; choose one of {', '.join(sorted(self))}.")


STATISTICS = Statistics()


@dataclass_transform()
def statistic(name: str) -> Callable[[type[Kind]], type[Kind]]:
    """Register the decorated class, a dataclass from then on, as the statistic `name`; its docstring's first line says what
    it counts, and its fields are its settings."""

    def register(cls: type[Kind]) -> type[Kind]:
        made = cls if "__dataclass_fields__" in vars(cls) else dataclass(cls)
        made.name, made.about = name, (made.__doc__ or "").strip().split("\n")[0]
        STATISTICS[name] = made
        return made

    return register


def usual_statistics() -> list[str]:
    """The statistics that a study counts when none is named: those that any text has, at little cost."""
    return [name for name, cls in STATISTICS.items() if cls.usual and not cls.needs]


@dataclass(frozen=True)
class Rules:
    """What is known of a setting beside its usual value."""

    one_of: Collection[Any] = ()  # all that it may be, if that is known
    least: int | None = None
    said: str = ""  # in a table's name, {} standing for the value; nothing where names do not speak of it
    title: str = ""  # in a table's title, likewise; as in the name, where nothing else is written
    always: bool = False  # said also where it is the usual one
    help: str = ""  # what it is about, in a line, for who sets it on the command line


def setting(usual: Any, *, said: str = "", title: str = "", **rules: Any) -> Any:
    """A dataclass field with its usual value and its `Rules`."""
    return field(default=usual, metadata={"rules": Rules(said=said, title=title or said.replace("_", " "), **rules)})


def rules_of(one: Field[Any]) -> Rules:
    return one.metadata.get("rules", Rules())


def check(statistic: str, one: Field[Any], value: Any) -> None:
    """Refuse what a setting cannot be."""
    rules = rules_of(one)
    if rules.one_of and value not in rules.one_of:
        raise InputError(f"{statistic} takes {one.name}={' or '.join(map(repr, rules.one_of))}, not {value!r}.")
    if rules.least is not None and value < rules.least:
        raise InputError(f"{statistic} takes {one.name}={rules.least} or more, not {value}.")
