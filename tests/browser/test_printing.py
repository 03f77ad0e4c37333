"""Pages on paper: light, in their colours, nothing cut, nothing to click; and the sheets that a browser makes of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import headscope
from headscope.lens import Lens
from tests.browser.conftest import missing
from tests.browser.live_server import serving
from tests.browser.waiting import until
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]

Open = Callable[..., Any]
SHEET = 703  # CSS pixels of an upright A4 within its margins
TEXT = "the cats sat on the unbelievable mat and two dogs sat on the other mat"
DRAWN = {
    "head": ".head-drawing, .head-canvas, .tokens",
    "model": ".model-cells, .model-picture",
    "neuron": ".key-row, .neuron-strip",
    "matrix": ".heatmap, .matrix-map, .matrix-map canvas",
}
CONTROLS = ".tabs, .toolbar, .keys-button, button.quiet, input, .live-form, .table-list"


@pytest.fixture(scope="module")
def lens() -> Iterator[Lens]:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"), name="bert") as opened:
        yield opened


@pytest.fixture(scope="module")
def saved(lens: Lens, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return headscope.head_view(lens.read(TEXT)).save(tmp_path_factory.mktemp("printed") / "view.html")


def on_paper(page: Any) -> None:
    """As a browser lays the page out for a sheet; what is drawn is drawn for it."""
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": SHEET, "height": 1030})
    until(page, lambda: page.get_attribute("html", "data-theme") == "light")
    page.wait_for_timeout(300)


def seen(page: Any, selector: str) -> list[dict[str, float]]:
    """The boxes of what is drawn at all."""
    boxes = (one.bounding_box() for one in page.locator(selector).all())
    return [box for box in boxes if box is not None and box["width"] > 0]


def check_sheet(page: Any, drawn: str) -> None:
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).printColorAdjust") == "exact"
    assert seen(page, CONTROLS) == []
    boxes = seen(page, drawn)
    assert boxes
    for box in boxes:
        assert box["x"] >= -1
        assert box["x"] + box["width"] <= SHEET + 1
    assert page.evaluate("document.documentElement.scrollWidth") <= SHEET


@pytest.mark.parametrize("view", DRAWN)
def test_a_view(view: str, saved: Path, open_file: Open) -> None:
    page = open_file(saved, f"view={view}&layer=1&heads=2&compare=norm", width=1300, dark=True)
    page.wait_for_selector("[data-drawn]")
    on_paper(page)
    check_sheet(page, DRAWN[view])
    assert page.inner_text("h1").startswith("the cats sat")
    assert page.inner_text(".read-by") == "read by bert"
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".stage *")].filter((one) =>
            /auto|scroll/.test(getComputedStyle(one).overflowY) && one.scrollHeight > one.clientHeight + 1).length"""
    )
    assert cut == 0  # nothing is scrolled away


def test_all_keys_of_a_long_text_and_the_screen_again(lens: Lens, open_file: Open, tmp_path: Path) -> None:
    words = " ".join(["the cat sat"] * 18)
    path = headscope.neuron_view(lens.read(words), keep=["q30"]).save(tmp_path / "long.html")
    page = open_file(path, width=1300, height=600, dark=True)
    page.wait_for_selector("[data-drawn]")
    few = page.locator(".key-row[data-key]").count()
    on_paper(page)
    assert page.locator(".key-row[data-key]").count() == 56 > few
    page.emulate_media(media="screen", color_scheme="dark")
    until(page, lambda: page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)")
    until(page, lambda: page.locator(".key-row[data-key]").count() < 56)


def test_a_report(two: Path, plain: Path, open_file: Open) -> None:
    page = open_file(two, "head=0.1&theme=dark", width=1300)
    on_paper(page)
    check_sheet(page, ".atlas-grid, .card-panel, .number-strip")
    assert page.evaluate("getComputedStyle(document.querySelector('.card-panel')).position") == "static"
    page = open_file(two, "part=tables&table=entropy", width=1300)
    on_paper(page)
    check_sheet(page, ".table-scroll table")
    page = open_file(plain / "report.html", "part=figures", width=1300)
    on_paper(page)
    check_sheet(page, "figure img")


def test_the_live_page_says_its_text_and_model(lens: Lens, open_live: Open) -> None:
    with serving({"bert": lens}) as server:
        page = open_live(server, f"text={TEXT}&beside=1&besideText=two%20dogs", width=1300, dark=True)
        page.wait_for_selector(".second [data-drawn]")
        on_paper(page)
        check_sheet(page, ".head-drawing")
        assert page.locator(".live-caption").all_inner_texts() == [f"{TEXT.rsplit(' ', 1)[0]} …", "two dogs"]
        assert page.inner_text(".live-model").startswith("bert")


@pytest.mark.parametrize("view", DRAWN)
def test_the_sheets_of_a_browser(view: str, saved: Path, open_file: Open, tmp_path: Path) -> None:
    """What is printed from a dark page is what is printed from a light one: white paper, ink, and the maps' colours."""
    printed = {}
    for theme in ("light", "dark"):
        page = open_file(saved, f"view={view}&layer=1&heads=2&keep=q2,k3", width=1300, dark=theme == "dark")
        page.wait_for_selector("[data-drawn]")
        printed[theme] = sheets(page, tmp_path / theme)
    for light, dark in zip(printed["light"], printed["dark"], strict=True):
        assert light.mean() == pytest.approx(dark.mean(), abs=0.5)  # of 255: letters may stand a fraction of a pixel aside
    sheet = printed["light"][0]
    assert (sheet[0, 0] == 255).all()
    assert (sheet.min(-1) > 200).mean() > 0.5  # paper
    top = sheet[: int(0.12 * len(sheet))]
    assert (top.max(-1) < 90).sum() > 20  # the title, in dark ink
    colourful = sheet.max(-1) - sheet.min(-1) > 60
    assert colourful[int(0.12 * len(sheet)) :].sum() > 60
    text = told(tmp_path / "dark" / "page.pdf")
    assert re.search(r"read by\s+bert", text)
    assert "copy link" not in text


def test_lines_of_a_long_text_stay_beside_their_tokens(open_file: Open, tmp_path: Path) -> None:
    """Over several sheets, the first of which has more than a title: each square is beside the token that it is of."""
    count, at = 120, 90
    scores = np.eye(count)
    path = headscope.head_view(tokens=[f"t{n}" for n in range(count)], scores=scores).save(tmp_path / "long.html")
    page = open_file(path, f"keep=q{at}", width=1300)
    page.wait_for_selector("[data-drawn]")
    first, second, *_ = sheets(page, tmp_path / "out", dots=96)
    assert (first[len(first) // 2 :].min(-1) < 120).any(), "tokens stand below the title"
    where = subprocess.run(
        ["pdftotext", "-bbox", "-f", "2", "-l", "2", tmp_path / "out" / "page.pdf", "-"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    found = re.findall(rf'yMin="([\d.]+)" xMax="[\d.]+" yMax="([\d.]+)">t{at}<', where)
    assert len(found) >= 2, "attending and attended, and what is said of it"
    middle = sum(map(float, found[0])) / 2 * 96 / 72
    coloured = second.max(-1) - second.min(-1) > 60
    between = coloured[:, int(0.2 * coloured.shape[1]) : int(0.5 * coloured.shape[1])]  # its line, which is level
    assert np.flatnonzero(between.any(1)).mean() == pytest.approx(middle, abs=3)


def test_the_head_of_a_table_is_on_every_sheet(demo: Path, open_file: Open, tmp_path: Path) -> None:
    page = open_file(demo / "report.html", "part=tables&table=entropy", width=1300)
    page.wait_for_selector(".table-scroll tbody tr")
    on_sheets = sheets(page, tmp_path)
    assert len(on_sheets) > 1
    assert told(tmp_path / "page.pdf").count("head ▲") == len(on_sheets)


def sheets(page: Any, folder: Path, dots: int = 48) -> list[Any]:
    """What a browser prints, in folder/page.pdf too; a sheet as (row, column, colour)."""
    if shutil.which("pdftoppm") is None:
        missing("pdftoppm is not installed (apt-get install poppler-utils)")
    folder.mkdir(exist_ok=True)
    page.pdf(path=folder / "page.pdf", format="A4")
    subprocess.run(["pdftoppm", "-r", str(dots), "-png", folder / "page.pdf", folder / "sheet"], check=True)
    return [np.asarray(Image.open(sheet).convert("RGB")).astype(int) for sheet in sorted(folder.glob("sheet*.png"))]


def told(pdf: Path) -> str:
    return subprocess.run(["pdftotext", pdf, "-"], check=True, capture_output=True, text=True).stdout
