"""A real Chromium with the network off. Without one the tests here are skipped by name; .ci/run makes that a failure."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import places

REQUIRED = bool(os.environ.get("HEADSCOPE_REQUIRE_BROWSER"))
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SCREENSHOTS = places.ROOT / "out" / "screenshots"


def missing(what: str) -> None:
    """Skip, or fail where browser tests are required."""
    if REQUIRED:
        pytest.fail(f"{what}, and HEADSCOPE_REQUIRE_BROWSER is set")
    pytest.skip(what)


@pytest.fixture(scope="package")  # not the session: its event loop would stay in this thread, in the way of other tests
def browser() -> Iterator[Any]:
    program = shutil.which("chromium")
    if program is None:
        missing("the program chromium is not installed (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=OPTIONS)
        yield opened
        opened.close()


class OpenedPage:
    """A page from a file, and everything that went wrong or out while it was open."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.problems: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: (self.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("console", self._listen)

    def _listen(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def check(self, address: str) -> None:
        """Nothing was asked for but the file itself, and nothing complained."""
        assert [url for url in self.requests if not url.startswith(address.split("#")[0])] == []
        assert self.problems == []


@pytest.fixture
def open_file(browser: Any) -> Iterator[Callable[..., Any]]:
    """open_file(path, fragment="view=head", width=1200, height=800, dark=False) -> a Playwright page that is drawn.

    When the test ends, each page must have made no request and no complaint.
    """
    opened: list[tuple[OpenedPage, str, Any]] = []

    def open_it(
        path: Path, fragment: str = "", *, width: int = 1200, height: int = 800, dark: bool = False, phone: bool = False
    ) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            offline=True,
            has_touch=phone,
            is_mobile=phone,
            device_scale_factor=1,
        )
        page = context.new_page()
        address = path.resolve().as_uri() + (f"#{fragment}" if fragment else "")
        opened.append((OpenedPage(page), address, context))
        page.goto(address)
        page.wait_for_selector("[data-ready=true]")
        return page

    yield open_it
    for watched, address, context in opened:
        context.close()
        watched.check(address)


@pytest.fixture
def screenshot() -> Callable[[Any, str], Path]:
    """screenshot(page, "head-view") -> out/screenshots/head-view.png, for people to look at."""

    def take(page: Any, name: str) -> Path:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        page.screenshot(path=path)
        return path

    return take
