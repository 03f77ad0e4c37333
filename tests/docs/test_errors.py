"""Every kind of error has its section, and the messages that the page explains are those that are raised."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import headscope
from headscope.errors import HeadscopeError
from tests import places
from tests.docs import pages

MESSAGES = re.findall(r"^\| (.*…?.*) \| .+ \|$", pages.text("errors.md"), re.MULTILINE)
SOURCE = places.ROOT / "src" / "headscope"


def kinds_of(cls: type[HeadscopeError]) -> set[str]:
    return {cls.__name__}.union(*(kinds_of(one) for one in cls.__subclasses__() if one.__module__.startswith("headscope.")))


def test_every_kind_has_its_section() -> None:
    for found in walk_packages(headscope.__path__, "headscope."):
        if not found.name.endswith("__main__"):
            import_module(found.name)
    assert kinds_of(HeadscopeError) == set(pages.sections("errors.md"))


def written() -> set[str]:
    """Every string of the source, with … for what is filled in."""
    found: set[str] = set()
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                found.add("".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


def test_messages_are_those_of_the_source() -> None:
    said = {message for message in MESSAGES if message not in ("message", "---")}
    assert len(said) > 25
    source = written()
    unknown = {message for message in said if not any(message.rstrip("…").rstrip() in one for one in source)}
    assert unknown == set()


@pytest.mark.real
def test_errors_are_said_so(minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert pages.run_examples("errors.md") > 5
