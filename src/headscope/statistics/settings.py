"""A setting of a statistic: a field that says what it may be, and how a table's name and title speak of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import Field, dataclass, field
from typing import Any

from headscope.errors import InputError


@dataclass(frozen=True)
class Rules:
    """What is known of a setting beside its usual value."""

    one_of: Collection[Any] = ()  # all that it may be, if that is known
    least: int | None = None
    said: str = ""  # in a table's name, {} standing for the value; nothing where names do not speak of it
    title: str = ""  # in a table's title, likewise; as in the name, where nothing else is written
    always: bool = False  # said also where it is the usual one


def setting(
    usual: Any,
    *,
    one_of: Collection[Any] = (),
    least: int | None = None,
    said: str = "",
    title: str = "",
    always: bool = False,
) -> Any:
    """A dataclass field with its usual value and its rules."""
    return field(default=usual, metadata={"rules": Rules(one_of, least, said, title or said.replace("_", " "), always)})


def rules_of(one: Field[Any]) -> Rules:
    return one.metadata.get("rules", Rules())


def check(statistic: str, one: Field[Any], value: Any) -> None:
    """Refuse what a setting cannot be."""
    rules = rules_of(one)
    if rules.one_of and value not in rules.one_of:
        raise InputError(f"{statistic} takes {one.name}={' or '.join(map(repr, rules.one_of))}, not {value!r}.")
    if rules.least is not None and value < rules.least:
        raise InputError(f"{statistic} takes {one.name}={rules.least} or more, not {value}.")
