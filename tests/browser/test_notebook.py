"""A real JupyterLab shows the four views. Its screenshots are those of the docs (out/screenshots/notebook-*.png)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow, pytest.mark.real]

VIEWS = ("head", "model", "neuron", "matrix")


MODEL = "all-MiniLM-L6-v2"


def _notebook() -> dict[str, Any]:
    sources = [
        f'import headscope\nlens = headscope.open("{MODEL}")\n'
        'reading = lens.read("The keys to the cabinet are on the table.", pair="They are heavy.")\nreading',
        "headscope.head_view(reading)",
        "headscope.model_view(reading)",
        'headscope.neuron_view(reading, layer=3, heads=[2], keep=["q5"])',
        'headscope.matrix_view(reading, layer=4, heads=[7], compare="norm")',
    ]
    cells = [
        {"id": f"cell{i}", "cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
        for i, source in enumerate(sources)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def lab(tmp_path: Path, minilm: Path) -> Iterator[str]:
    """The address of a JupyterLab with one notebook."""
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed: make test installs it")
    work, own = tmp_path / "work", tmp_path / "own"
    work.mkdir()
    (work / MODEL).symlink_to(minilm)
    (work / "views.ipynb").write_text(json.dumps(_notebook()))
    settings = {"JUPYTER_CONFIG_DIR": str(own), "JUPYTER_DATA_DIR": str(own), "PYTHONWARNINGS": "ignore"}
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0", f"--ServerApp.root_dir={work}"]
    log = (tmp_path / "lab.log").open("w+")
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        *options,
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    server = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **settings}, cwd=work)
    try:
        yield _address(tmp_path / "lab.log", server)
    finally:
        server.terminate()
        server.wait(20)


def _address(log: Path, server: subprocess.Popen[bytes]) -> str:
    until = time.monotonic() + 60
    while time.monotonic() < until and server.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)/lab\?token=(\w+)", log.read_text()):
            return f"http://127.0.0.1:{found[1]}/lab/tree/views.ipynb?token={found[2]}"
        time.sleep(0.3)
    raise AssertionError(f"JupyterLab did not start: {log.read_text()[-600:]}")


def test_jupyterlab_shows_the_four_views(lab: str, browser: Any, screenshot: Callable[[Any, str], Path]) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.goto(lab)
    page.get_by_role("button", name="No", exact=True).click(timeout=60_000)  # no news of Jupyter's
    page.get_by_text("| Idle").wait_for(timeout=90_000)  # the kernel; a cell that is run before it is there is not run
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    cells.nth(0).locator(".cm-content").click(timeout=60_000)
    for number, view in enumerate((None, *VIEWS)):
        page.keyboard.press("Shift+Enter")
        if view is None:
            page.get_by_text("strongest links beyond sinks, self attention").wait_for(timeout=90_000)
            picture = cells.nth(0).locator("img")
            assert picture.evaluate("image => image.naturalWidth") > 100
            assert cells.nth(0).locator("[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
            screenshot(page, "notebook-reading")
            continue
        cell = cells.nth(number)
        frame = cell.frame_locator("iframe")
        frame.locator(f".viewer[data-view={view}]").wait_for(timeout=60_000)
        frame.locator("[data-drawn]").first.wait_for(timeout=30_000)
        assert frame.locator("canvas").count() > 0
        cell.locator("iframe").scroll_into_view_if_needed()
        page.wait_for_timeout(1000)
        inner = cell.locator("iframe").element_handle().content_frame()
        whole = inner.evaluate("() => document.getElementById('app').getBoundingClientRect().height")
        assert cell.locator("iframe").bounding_box()["height"] == pytest.approx(whole, abs=1)
        screenshot(page, f"notebook-{view}")
    page.close()
