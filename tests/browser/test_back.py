"""Back goes back in every page: to the tab, the head, the card, the text before, and not to what a slider was at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import headscope
from headscope.lens import Lens
from headscope.report import write_report
from tests.browser.live_server import Server, serving
from tests.browser.waiting import fragment, until
from tests.report.samples import SampleRun
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

pytestmark = pytest.mark.xdist_group("browser")

Open = Callable[..., Any]
TEXT = "the cats sat on the unbelievable mat"
OTHER = "two dogs and a cat"


@pytest.fixture(scope="module")
def lens() -> Iterator[Lens]:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"), name="bert") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(lens: Lens, sample_run: SampleRun) -> Iterator[Server]:
    with serving({"bert": lens}, sample_run("bert").folder) as started:
        yield started


def goes_back(page: Any, expected: list[str]) -> None:
    """The address at each step back; and forward again to where it was."""
    now = fragment(page)
    for one in expected:
        page.go_back()
        until(page, lambda one=one: fragment(page) == one)
    for _ in expected:
        page.go_forward()
    until(page, lambda: fragment(page) == now)


def slide(page: Any, name: str, value: str) -> None:
    page.locator(f"input[name={name}]").fill(value)


def test_in_a_view(lens: Lens, open_file: Open, tmp_path: Path) -> None:
    page = open_file(headscope.matrix_view(lens.read(TEXT)).save(tmp_path / "view.html"))
    opened = fragment(page)
    assert opened.startswith("view=matrix")
    page.click("#tab-head")
    head = fragment(page)
    slide(page, "least", "0.25")
    slide(page, "least", "0.5")
    page.click("[data-token=q2]")
    moved = fragment(page)
    assert "least=0.5" in moved
    assert "keep=q2" in moved
    page.click("#tab-model")
    assert page.get_attribute(".viewer", "data-view") == "model"
    goes_back(page, [moved, opened])  # what was moved and marked is where it was left
    page.go_back()
    until(page, lambda: page.get_attribute(".viewer", "data-view") == "head")
    assert page.input_value("input[name=least]") == "0.5"
    page.go_back()
    until(page, lambda: page.get_attribute(".viewer", "data-view") == "matrix")
    assert head != opened


def test_layers_that_are_gone_through_are_one_step(lens: Lens, open_file: Open, tmp_path: Path) -> None:
    page = open_file(headscope.head_view(lens.read(TEXT), layer=0).save(tmp_path / "view.html"))
    opened = fragment(page)
    for _ in range(2):
        page.keyboard.press("]")
    until(page, lambda: page.input_value("select[name=layer]") == "2")
    page.click("button[name=no-heads]")
    page.go_back()
    until(page, lambda: page.locator(".chip[aria-pressed=true]").count() == 4)
    assert page.input_value("select[name=layer]") == "2"
    page.go_back()
    until(page, lambda: page.input_value("select[name=layer]") == "0")
    assert fragment(page) == opened
    page.keyboard.press("d")  # light or dark is no step
    page.keyboard.press("2")
    page.go_back()
    until(page, lambda: page.get_attribute(".viewer", "data-view") == "head")
    assert page.get_attribute("html", "data-theme") == "dark"


def test_in_a_report(sample_run: SampleRun, open_file: Open, tmp_path: Path) -> None:
    page = open_file(write_report(sample_run("bert").folder, out=tmp_path / "report.html"))
    page.click(".atlas [data-head='1.2']")
    page.wait_for_selector(".card-panel[data-card='1.2']")
    card = fragment(page)
    page.click("#tab-tables")
    page.wait_for_selector(".part[data-part=tables]")
    page.locator("input[type=search], input[type=text]").first.fill("e")
    until(page, lambda: "find=e" in fragment(page))  # typing is one step, which ends a moment after the last letter
    found = fragment(page)
    page.click("#tab-run")
    goes_back(page, [found, card, ""])
    page.go_back()
    until(page, lambda: page.locator(".part[data-part=tables]").count() == 1)
    page.go_back()
    until(page, lambda: page.locator(".part[data-part=heads]").count() == 1)
    assert page.locator(".card-panel").count() == 1
    page.go_back()
    until(page, lambda: page.locator(".card-panel").count() == 0)


def test_in_the_live_page(server: Server, open_live: Open) -> None:
    page = open_live(server)
    page.fill("textarea[name=text]", TEXT)
    page.press("textarea[name=text]", "Enter")
    page.wait_for_selector("[data-drawn]")
    first = fragment(page)
    page.select_option("select[name=layer]", "1")
    layer = fragment(page)
    page.click("#tab-matrix")
    slide(page, "least", "0.3")
    matrix = fragment(page)
    page.click("button[name=part-heads]")
    page.wait_for_selector(".atlas [data-head='1.2']")
    heads = fragment(page)
    page.click(".atlas [data-head='1.2']")
    page.wait_for_selector(".card-panel")
    goes_back(page, [heads, matrix, layer, first, ""])
    page.go_back()
    until(page, lambda: page.locator(".card-panel").count() == 0)


def test_a_link_within_the_page_is_followed(lens: Lens, open_file: Open, tmp_path: Path) -> None:
    """An address that is typed, or clicked in a text beside the page's own."""
    page = open_file(headscope.head_view(lens.read(TEXT)).save(tmp_path / "view.html"))
    page.evaluate("location.hash = 'view=matrix&layer=2'")
    until(page, lambda: page.get_attribute(".viewer", "data-view") == "matrix")
    page.go_back()
    until(page, lambda: page.get_attribute(".viewer", "data-view") == "head")


def test_the_usual_choice_of_a_page_that_opens_with_another(lens: Lens, open_file: Open, tmp_path: Path) -> None:
    """It has a word in the address too: loaded again, the page is as it was left."""
    page = open_file(headscope.matrix_view(lens.read(quote(OTHER))).save(tmp_path / "view.html"))
    page.click("#tab-head")
    page.reload()
    page.wait_for_selector("[data-ready=true]")
    assert page.get_attribute(".viewer", "data-view") == "head"
