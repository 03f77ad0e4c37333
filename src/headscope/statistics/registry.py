"""The statistics by name, so that a new file is known to the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, TypeVar

from headscope.errors import InputError

if TYPE_CHECKING:
    from headscope.statistics.base import Statistic

Kind = TypeVar("Kind", bound="Statistic")


class Statistics(dict[str, "type[Statistic]"]):
    """A dictionary whose missing keys are explained."""

    def __missing__(self, name: str) -> type[Statistic]:
        raise InputError(f"There is no statistic {name!r}; choose one of {', '.join(sorted(self))}.")


STATISTICS = Statistics()


def statistic(name: str) -> Callable[[type[Kind]], type[Kind]]:
    """Register the decorated dataclass as the statistic `name`; its docstring's first line describes it."""

    def register(cls: type[Kind]) -> type[Kind]:
        if not (is_dataclass(cls) and "__dataclass_fields__" in vars(cls)):
            raise TypeError(f"{cls.__name__} must be a dataclass, for its settings are its fields: write @dataclass below.")
        cls.name, cls.about = name, (cls.__doc__ or "").strip().split("\n")[0]
        STATISTICS[name] = cls
        return cls

    return register


def usual_statistics() -> list[str]:
    """The statistics that a study counts when none is named: those that any text has, at little cost."""
    return [name for name, cls in STATISTICS.items() if cls.usual and not cls.needs]
