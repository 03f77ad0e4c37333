"""A page with every head of a text, by headscope and by bertviz: its size, how long it takes to write, its first drawing."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import alternate, as_ratios
from benchmarks.view_drawing import OPTIONS, first_drawing
from benchmarks.view_size import random_content, read_content

from comparisons.table import OURS, Line, Table, named
from headscope.views.content import Content
from headscope.views.state import State
from headscope.views.view import View

WEIGHTS = f"{OURS}, weights alone"
BERTVIZ = "bertviz"
PATIENCE = 180.0  # seconds until a page is given up
ENOUGH = 60.0  # seconds of waiting for a page's drawings, after which it is not opened again
# What bertviz's page asks a server for, and the file that stands for it; npm never had jQuery 2.0.0.
SCRIPTS = Path(sys.prefix) / "scripts" / "node_modules"
ASKED = {
    "require.min.js": "requirejs/require.js",
    "d3.min.js": "d3/dist/d3.min.js",
    "jquery.min.js": "jquery/dist/jquery.min.js",
}
# bertviz draws in one go, so that the first frame with a drawing in it has all of it.
WATCH = """const look = () => document.querySelector("svg") ? performance.mark("drawn") : requestAnimationFrame(look);
requestAnimationFrame(look);"""
DRAWN = "performance.getEntriesByName('drawn')[0]?.startTime"
ABOUT = """The model view of {what}: headscope's page has weights, norms and joint norms, bertviz's the weights. First
drawing: from the start of the navigation to the first frame in which heads are drawn, in Chromium, from a file;
bertviz's page asks a server for require.js, d3 and jQuery, which are here given from this machine. headscope writes a
byte a weight and packs it, bertviz decimal numbers; headscope draws small maps of pixels, bertviz a line for each
weight."""


def views(settings: Settings) -> Table:
    """A page of all-MiniLM-L6-v2, 6 x 12 heads, on 64 tokens of text, beside bertviz."""
    tokens = 8 if settings.quick else 64
    return compare(read_content(None, tokens), f"all-MiniLM-L6-v2, 6 x 12 heads, {tokens} tokens", settings)


def large_views(settings: Settings) -> Table:
    """A page of 12 x 12 heads on 128 tokens with random weights, which nothing can compress, beside bertviz."""
    layers, heads, tokens = (2, 2, 8) if settings.quick else (12, 12, 128)
    what = f"{layers} x {heads} heads, {tokens} tokens, random"
    return compare(random_content(layers, heads, tokens), what, settings)


def compare(content: Content, what: str, settings: Settings) -> Table:
    """Each page written in turn, then opened in turn."""
    weights = [replace(one, scores={"weight": one.scores["weight"]}) for one in content.attentions]
    with tempfile.TemporaryDirectory() as folder:
        files = {tool: Path(folder) / f"{place}.html" for place, tool in enumerate((OURS, WEIGHTS, BERTVIZ))}
        alone = replace(content, attentions=weights)
        write: dict[str, Callable[[], Any]] = {
            tool: lambda page=page, tool=tool: View(page, State(view="model")).save(files[tool])  # type: ignore[misc]
            for tool, page in ((OURS, content), (WEIGHTS, alone))
        }
        if (peer := _bertviz(content, files[BERTVIZ])) is not None:
            write[BERTVIZ] = peer
        written = {row.what: row for row in as_ratios(alternate(write, settings.repeats), OURS, {})}
        drawn = _drawn({tool: files[tool] for tool in write}, settings.repeats)
        lines = []
        for tool in write:
            size = files[tool].stat().st_size / 1e6
            cells: dict[str, Row | str] = {"file": Row("file", [size], "MB"), "time to write": written[tool]}
            lines.append(Line(_titled(tool), cells | ({"first drawing": drawn[tool]} if tool in drawn else {})))
    return Table(f"A page with every head: {what}", ABOUT.format(what=what), lines)


def _bertviz(content: Content, path: Path) -> Callable[[], Any] | None:
    """bertviz's model view of the same weights, as its README saves it; None where it is not installed."""
    try:
        from bertviz import model_view
    except ImportError:
        return None
    attention = [torch.from_numpy(one.scores["weight"])[None] for one in content.attentions]
    tokens = content.sides["source"].tokens
    return lambda: path.write_text(model_view(attention, tokens, html_action="return").data, encoding="utf-8")


def _drawn(files: dict[str, Path], repeats: int) -> dict[str, Row | str]:
    """Seconds until each page is drawn; nothing where there is no Chromium, a reason where a page cannot be drawn."""
    program = shutil.which("chromium")
    if program is None:
        return {}
    from playwright.sync_api import Error, sync_playwright

    seconds: dict[str, list[float]] = {tool: [] for tool in files}
    refused: dict[str, Row | str] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=OPTIONS)
        for _ in range(repeats):
            for tool, file in files.items():
                if tool in refused or sum(seconds[tool]) > ENOUGH:
                    continue
                draw = (
                    partial(_peer_drawing, browser, file)
                    if tool == BERTVIZ
                    else partial(first_drawing, browser, file, "model")
                )
                try:
                    seconds[tool].append(draw())
                except (Error, TimeoutError, FileNotFoundError) as error:
                    refused[tool] = str(error).splitlines()[0]
        browser.close()
    return refused | {tool: Row("first drawing", taken, "s") for tool, taken in seconds.items() if tool not in refused}


def _peer_drawing(browser: Any, file: Path) -> float:
    """The same for a page of bertviz, whose scripts come from this machine."""
    if not SCRIPTS.is_dir():
        raise FileNotFoundError("its scripts are not here: make compare fetches them with npm")
    page = browser.new_page()
    page.add_init_script(WATCH)
    page.route("https://**/*", lambda route: route.fulfill(path=SCRIPTS / ASKED[route.request.url.rsplit("/", 1)[1]]))
    page.goto(file.as_uri(), timeout=PATIENCE * 1000)
    waited = 0.0
    while (milliseconds := page.evaluate(DRAWN)) is None:
        page.wait_for_timeout(50)
        waited += 0.05
        if waited > PATIENCE:
            raise TimeoutError(f"nothing drawn within {PATIENCE:.0f} seconds")
    page.close()
    return float(milliseconds) / 1000


def _titled(tool: str) -> str:
    return named(BERTVIZ) if tool == BERTVIZ else tool.replace(OURS, named(OURS))
