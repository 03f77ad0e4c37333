"""The public interface: flat, whole, and with signatures and docstrings that Tab and Shift-Tab can show."""

from __future__ import annotations

import inspect
import re

import pytest

import headscope
from tests import places

FUNCTIONS = [name for name in headscope.__all__ if inspect.isfunction(getattr(headscope, name))]


def test_what_is_there() -> None:
    functions = "open load_run study align report compare statistic measure attention_map"
    assert set(f"{functions} papers heads Statistic ModelSource Run Head".split()) <= set(headscope.__all__)
    assert all(hasattr(headscope, name) for name in headscope.__all__)
    assert {paper.name for paper in headscope.papers.PAPERS} == {"clark2019", "vig2019", "kobayashi2020"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_says_what_it_takes(name: str) -> None:
    function = getattr(headscope, name)
    assert function.__doc__
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}


@pytest.mark.parametrize("page", sorted(places.DOCS.rglob("*.md")), ids=lambda page: page.name)
def test_no_example_imports_from_below_the_second_level(page: str) -> None:
    deep = re.findall(r"^\s*(?:from|import) (headscope\.\w+\.\w+\S*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert not deep
