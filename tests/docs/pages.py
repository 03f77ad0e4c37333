"""The pages of the documentation, and the blocks of code in them."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

from tests import places

DOCS = places.DOCS


def text(page: str | Path) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(page: str | Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text(page), re.DOTALL | re.MULTILINE)


def sections(page: str | Path) -> dict[str, str]:
    """What stands under each heading of the second level, by its title without backticks."""
    parts = re.split(r"^## (.+)\n", text(page), flags=re.MULTILINE)[1:]
    return {title.replace("`", ""): said for title, said in zip(parts[::2], parts[1::2], strict=True)}


def run_examples(page: str | Path, names: dict[str, Any] | None = None) -> int:
    """Run the `>>>` lines of a page's pycon blocks, one after another with the same names; how many there were."""
    given: dict[str, Any] = dict(names or {})
    said: list[str] = []
    runner, count = doctest.DocTestRunner(verbose=False), 0
    for number, code in enumerate(blocks(page, "pycon"), 1):
        test = doctest.DocTestParser().get_doctest(code, given, f"{page}, block {number}", str(page), 0)
        count += len(test.examples)
        failed = runner.run(test, out=said.append, clear_globs=False).failed
        given = test.globs
        assert failed == 0, "".join(said)
    return count
