"""The statistics by name, so that a new file is known to the command line."""

from __future__ import annotations

from headscope.errors import InputError
from headscope.statistics.base import Statistic


class Statistics(dict[str, type[Statistic]]):
    """A dictionary whose missing keys are explained."""

    def __missing__(self, name: str) -> type[Statistic]:
        raise InputError(f"There is no statistic {name!r}; choose one of {', '.join(sorted(self))}.")


STATISTICS = Statistics()


def statistic(cls: type[Statistic]) -> type[Statistic]:
    """Register the decorated class under its name; its docstring's first line describes it."""
    cls.about = (cls.__doc__ or "").strip().split("\n")[0]
    STATISTICS[cls.name] = cls
    return cls


def usual_statistics() -> list[str]:
    """The statistics that a study counts when none is named: those that any text has, at little cost."""
    return [name for name, cls in STATISTICS.items() if cls.usual and not cls.needs]
