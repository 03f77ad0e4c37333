"""Settings that are given as text, NAME=VALUE: which ones a dataclass has, what they are, and their values, checked."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from headscope.errors import InputError
from headscope.statistics.registry import STATISTICS, check, rules_of

TRUE, FALSE, NONE = ("true", "yes", "on", "1"), ("false", "no", "off", "0"), "none"
FLAGS = {"measure": "-m", "level": "--level"}  # of every statistic
_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}


def settable(owner: type, without: Iterable[str] = ()) -> dict[str, Field[Any]]:
    """The fields of a dataclass that say what they are about (`Rules.help`), but for those that something else sets."""
    left_out = set(without)
    return {one.name: one for one in fields(owner) if rules_of(one).help and one.name not in left_out}


def said(owner: type, without: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Each with its usual value, and what it is about."""
    for name, one in settable(owner, without).items():
        rules = rules_of(one)
        choice = f" One of {', '.join(map(str, rules.one_of))}." if rules.one_of else ""
        yield f"{name}={_written(one.default)}", f"{rules.help}{choice}".strip()


def parse_setting(
    of: str, owner: type, name: str, text: str, without: Mapping[str, str] | None = None, prefix: str = ""
) -> Any:
    """The value of one setting; an error of one sentence where there is none of that name, or it cannot be that.

    `of` is who has the settings; `without` are those that have a flag of their own, by name.

    >>> from headscope.statistics import Relations
    >>> parse_setting("relations", Relations, "clitics", "false")
    False
    """
    flags, known = without or {}, settable(owner, without or ())
    if name in flags:
        raise InputError(f"--set {prefix}{name} has a flag of its own: give {flags[name]}.")
    if name not in known:
        near = get_close_matches(name, known, n=1)
        meant = f"did you mean {near[0]}? It has" if near else "it has"
        listed = ", ".join(known) or "none that can be set"
        raise InputError(f"{of} has no setting {name!r}: {meant} {listed}.")
    kinds = _kinds(get_type_hints(owner)[name])
    for kind in kinds:
        found, value = _parsed(kind, text.strip())
        if found:
            check(of, known[name], value)
            return value
    raise InputError(f"--set {prefix}{name} is {' or '.join(_NAMES.get(kind, NONE) for kind in kinds)}, not {text!r}.")


def statistic_settings(given: Iterable[str]) -> dict[str, dict[str, Any]]:
    """STATISTIC.NAME=VALUE, several times, as the settings of each statistic.

    >>> statistic_settings(["relations.clitics=false", "mixing.every=4"])
    {'relations': {'clitics': False}, 'mixing': {'every': 4}}
    """
    found: dict[str, dict[str, Any]] = {}
    for one in given:
        place, text = split_setting(one)
        statistic, dot, name = place.partition(".")
        if not dot:
            raise InputError(f"--set {one!r} does not say of which statistic: write STATISTIC.{place}={text}.")
        value = parse_setting(statistic, STATISTICS[statistic], name, text, FLAGS, f"{statistic}.")
        found.setdefault(statistic, {})[name] = value
    return found


def all_said() -> Iterator[tuple[str, str]]:
    """The settings of every statistic, as `said` has them, each with the statistic's name."""
    for statistic, cls in sorted(STATISTICS.items()):
        yield from ((f"{statistic}.{written}", about) for written, about in said(cls, FLAGS))


def split_setting(given: str) -> tuple[str, str]:
    """NAME and VALUE of NAME=VALUE."""
    name, equals, value = (part.strip() for part in given.partition("="))
    if not (name and equals and value):
        raise InputError(f"--set {given!r} is not NAME=VALUE; --help lists what can be set.")
    return name, value


def _kinds(annotation: Any) -> tuple[type, ...]:
    """The types that an annotation allows: none comes first, then the narrowest."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return tuple(sorted(parts, key=(NoneType, bool, int, float, str).index))


def _parsed(kind: type, text: str) -> tuple[bool, Any]:
    """Whether a text is of this type, and its value."""
    if kind is NoneType:
        return text.lower() == NONE, None
    if kind is bool:
        return text.lower() in (*TRUE, *FALSE), text.lower() in TRUE
    try:
        return True, kind(text)
    except ValueError:
        return False, None


def _written(value: Any) -> str:
    if value is None or value is MISSING:
        return NONE
    return str(value).lower() if isinstance(value, bool) else str(value)
