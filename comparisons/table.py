"""A comparison's table: a line a tool, a number or a reason in every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.rows import Row

OURS = "headscope"


@dataclass(frozen=True)
class Line:
    """What one tool has in each column: numbers with their samples, or words where there is no number."""

    tool: str
    cells: Mapping[str, Row | str]

    def to_json(self) -> dict[str, Any]:
        cells = {name: cell if isinstance(cell, str) else cell.to_json() for name, cell in self.cells.items()}
        return {"tool": self.tool, "cells": cells}


@dataclass(frozen=True)
class Table:
    """`about` says what each tool was asked for, `lines` what they gave."""

    title: str
    about: str
    lines: Sequence[Line]

    def to_json(self) -> dict[str, Any]:
        return {"title": self.title, "about": self.about, "lines": [line.to_json() for line in self.lines]}


def named(package: str, tool: str | None = None) -> str:
    """A tool with the version that is installed here.

    >>> named("no-such-package", "Nobody")
    'Nobody'
    """
    try:
        return f"{tool or package} {version(package)}"
    except PackageNotFoundError:
        return tool or package


def difference(number: float) -> str:
    """
    >>> difference(0.0), difference(3.21e-7)
    ('equal', 'within 3e-07')
    """
    return "equal" if number == 0 else f"within {number:.0e}"
