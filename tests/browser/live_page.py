"""What tests do at the live page, and wait for."""

from __future__ import annotations

from typing import Any

from tests.browser.waiting import until

FIRST, SECOND = ".live-column.first", ".live-column.second"


def write(page: Any, words: str, box: str = "text") -> None:
    edit(page, FIRST if box.startswith("text") else SECOND)
    page.fill(f"textarea[name={box}]", words)
    page.press(f"textarea[name={box}]", "Enter")


def edit(page: Any, column: str = FIRST) -> None:
    """Open the form, where a text that was read stands in a line."""
    if not page.is_visible(f"{column} .live-form"):
        page.click(f"{column} button[name=edit]")


def answers(page: Any, column: str = FIRST) -> int:
    return int(page.get_attribute(column, "data-answer") or 0)


def answered(page: Any, number: int = 1, column: str = FIRST, seconds: float = 30) -> None:
    """Until this many answers have come and the last is drawn."""
    until(page, lambda: answers(page, column) >= number and is_fresh(page, column), seconds)
    page.wait_for_selector(f"{column} [data-drawn]")


def is_fresh(page: Any, column: str = FIRST) -> bool:
    return bool(page.get_attribute(column, "data-stale") == "false")


def tokens(page: Any, column: str = FIRST) -> list[str]:
    return [str(label) for label in page.locator(f"{column} .tokens.attending .token").all_inner_texts()]


def predicted(page: Any, column: str = FIRST, seconds: float = 30) -> str:
    """What stands under the text, once it is there."""
    page.wait_for_selector(f"{column} [data-predicted=true]", timeout=1000 * seconds)
    return str(page.inner_text(f"{column} .live-predictions"))
