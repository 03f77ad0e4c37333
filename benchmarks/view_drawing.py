"""How long a browser takes from opening a view's file to its first drawing."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from benchmarks.view_size import random_content
from headscope.views.state import VIEWS, State
from headscope.views.view import View

OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
MOST = {128: 2.0, 512: 6.0}  # seconds, for 12 layers of 12 heads
DRAWN = "performance.getEntriesByName('headscope:drawn')[0]?.startTime"


def view_drawing(settings: Settings) -> list[Row]:
    """Seconds from the start of the navigation to the first drawing of each view, in Chromium, from a file."""
    program = shutil.which("chromium")
    if program is None:
        return []
    from playwright.sync_api import sync_playwright

    shapes = ((2, 2, 8),) if settings.quick else ((12, 12, 128), (12, 12, 512))
    rows = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=program, args=OPTIONS)
        for layers, heads, tokens in shapes:
            content = random_content(layers, heads, tokens)
            file = View(content, State()).save(Path(folder) / "view.html")
            for view in VIEWS:
                if view == "neuron":
                    continue  # random arrays have no queries and keys
                seconds = [first_drawing(browser, file, view) for _ in range(settings.repeats)]
                name = f"{view} view, {layers} x {heads}, {tokens} tokens"
                target = Target("<=", MOST[tokens]) if tokens in MOST else None
                rows.append(Row(name, seconds, "s", sorted(seconds)[len(seconds) // 2], "s", "in all", target))
        browser.close()
    return rows


def first_drawing(browser: object, file: Path, view: str) -> float:
    """Seconds from the start of the navigation to the moment at which a page of ours says that it is drawn."""
    page = browser.new_page()  # type: ignore[attr-defined]
    page.goto(f"{file.as_uri()}#view={view}")
    page.wait_for_selector("[data-drawn]", state="attached", timeout=60_000)
    while (milliseconds := page.evaluate(DRAWN)) is None:  # a page's policy forbids wait_for_function
        page.wait_for_timeout(20)
    page.close()
    return float(milliseconds) / 1000
