"""A real Chromium with the network off. Without one the tests here are skipped by name; .ci/run makes that a failure."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import places
from tests.browser.live_server import Server

REQUIRED = bool(os.environ.get("HEADSCOPE_REQUIRE_BROWSER"))
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WEB = places.ROOT / "web"
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


@pytest.fixture
def open_live(browser: Any) -> Iterator[Callable[..., Any]]:
    """open_live(server, "text=...", refused=["status of 422"]) -> a page that may reach this server and nothing else.

    When the test ends it must have asked nobody else, and complained of nothing but what is in `refused`.
    """
    opened: list[tuple[OpenedPage, Server, list[str], Any]] = []

    def open_it(
        server: Server,
        state: str = "",
        *,
        refused: tuple[str, ...] = (),
        width: int = 1200,
        height: int = 860,
        dark: bool = False,
        phone: bool = False,
    ) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            has_touch=phone,
            is_mobile=phone,
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.route(
            lambda url: not url.startswith(server.address), lambda route: route.abort()
        )  # still recorded as a request
        page = context.new_page()
        opened.append((OpenedPage(page), server, list(refused), context))
        server.pages.append(context)
        page.goto(server.address + (f"#{state}" if state else ""))
        page.wait_for_selector("[data-ready=true]")
        return page

    yield open_it
    for watched, server, refused, context in opened:
        context.close()
        assert [url for url in watched.requests if not url.startswith(server.address)] == []
        assert [said for said in watched.problems if not any(part in said for part in refused)] == []


@pytest.fixture(scope="package")
def modules() -> Path:
    """web/node_modules, as package-lock.json says."""
    if shutil.which("npm") is None:
        missing("npm is not installed, so nobody can say whether the bundle is current")
    installed, lock = WEB / "node_modules" / ".package-lock.json", WEB / "package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime:
        done = subprocess.run(
            ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
            cwd=WEB,
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode:
            missing(f"npm ci failed, so nobody can say whether the bundle is current: {done.stderr[-300:]}")
    return WEB / "node_modules"


@pytest.fixture(scope="package")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.browser.reports import demo_run

    return demo_run(tmp_path_factory.mktemp("report") / "run")


@pytest.fixture(scope="package")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.browser.reports import odd_run

    return odd_run(tmp_path_factory.mktemp("plain") / "run")


@pytest.fixture(scope="package")
def two(plain: Path) -> Path:
    from tests.browser.reports import beside

    return beside(plain)
