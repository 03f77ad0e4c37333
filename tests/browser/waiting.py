"""Waiting for a page. Playwright's wait_for_function evaluates text, which the pages' policy rightly forbids."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def until(page: Any, check: Callable[[], object], seconds: float = 30) -> None:
    """Until the check holds, or an assertion that it did not."""
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, f"still not so after {seconds} s"
        page.wait_for_timeout(15)


def redrawn(page: Any, root: str, act: Callable[[], object]) -> None:
    """Do something, and wait until the view whose element `root` counts its drawings was drawn again."""
    page.wait_for_selector(f"{root}[data-drawn]")
    before = page.get_attribute(root, "data-drawn")
    act()
    until(page, lambda: page.get_attribute(root, "data-drawn") not in (before, None))


def fragment(page: Any) -> str:
    """The state in the address."""
    return str(page.url).partition("#")[2]
