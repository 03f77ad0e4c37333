"""Where a page opens: the heads that say most about the text, what is said of them, and the scales of a matrix."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headscope
from tests.browser.map_colours import sequential
from tests.browser.pixels import canvas_opacities, cell_pixels
from tests.browser.waiting import fragment, until

Open = Callable[..., Any]

DRAWN = ".head-view[data-drawn]"
TOKENS = ["start", *"abcdabcdabcd"]


@pytest.fixture(scope="module")
def planted() -> np.ndarray:
    """(2, 3, n, n): all heads even, but for 1.1, which looks at what followed the last copy of its token."""
    count = len(TOKENS)
    scores = np.tril(np.ones((2, 3, count, count)))
    scores[1, 1] = np.tril(np.full((count, count), 0.02))
    for query in range(5, count):
        scores[1, 1, query, query - 3] = 3
    return scores / scores.sum(-1, keepdims=True)


def test_a_page_opens_at_the_head_that_says_most(planted: np.ndarray, open_file: Open, tmp_path: Path) -> None:
    path = headscope.head_view(tokens=TOKENS, scores=planted, exact=True).save(tmp_path / "x.html")
    page = open_file(path, width=1920)
    page.wait_for_selector(DRAWN)
    assert page.input_value("select[name=layer]") == "1"
    pressed = page.locator(".chip[aria-pressed=true]")
    assert pressed.count() == 1
    assert pressed.get_attribute("data-head") == "1"
    assert "induction" in pressed.inner_text()
    said = page.inner_text(".seen")
    assert said.startswith("Head 1.1 looks at what followed an earlier copy of the token")
    assert "%" in said
    page.click("button[name=all-heads]")
    until(page, lambda: pressed.count() == 3)
    assert "layer=1" in fragment(page)
    page.click("button[name=telling-heads]")
    until(page, lambda: pressed.count() == 1)


def test_the_model_view_enlarges_it(planted: np.ndarray, open_file: Open, tmp_path: Path) -> None:
    page = open_file(headscope.model_view(tokens=TOKENS, scores=planted, exact=True).save(tmp_path / "x.html"), width=1920)
    page.wait_for_selector(".enlarged[data-head='1.1'] .head-drawing")
    assert page.locator(".seen").count() == 1
    assert page.inner_text(".enlarged .seen").startswith("Head 1.1 looks at what followed an earlier copy of the token")
    page.click(".enlarged button[name=close]")
    until(page, lambda: page.locator(".enlarged").count() == 0)


@pytest.mark.parametrize("scale", ["row", "log"])
def test_scales_of_a_matrix(scale: str, open_file: Open, tmp_path: Path) -> None:
    given = np.array([[0.9, 0.09, 0.01], [0.2, 0.2, 0.6], [0.05, 0.9, 0.05]])
    view = headscope.matrix_view(tokens=list("abc"), scores=given, layer=0, scale=scale, exact=True)
    page = open_file(view.save(tmp_path / "x.html"))
    parts = given / given.max(1, keepdims=True) if scale == "row" else np.clip(1 + np.log10(given / given.max()) / 3, 0, 1)
    page.wait_for_selector(".matrix-maps[data-drawn]")
    found = cell_pixels(page, ".heatmap[data-panel='weight'] canvas.matrix-scores", 3, 3)
    assert np.abs(found - sequential(parts)).max() <= 4
    legend = page.inner_text(".matrix-legend")
    assert ("the largest of its row" if scale == "row" else "by powers of ten") in legend


def test_a_matrix_says_who_attends(open_file: Open, tmp_path: Path) -> None:
    page = open_file(headscope.matrix_view(tokens=list("abc"), scores=np.eye(3)).save(tmp_path / "x.html"))
    page.wait_for_selector(".matrix-map")
    assert page.inner_text(".matrix-who").split() == ["attends", "↓", "is", "attended", "to", "→"]
    attends, attended = (page.locator(f".matrix-who span >> nth={place}").bounding_box() for place in (0, 1))
    assert attends["x"] + attends["width"] + 4 <= attended["x"]  # however short the tokens are


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1366, 768)])
def test_a_matrix_is_seen_whole_with_its_legend(width: int, height: int, open_file: Open, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).dirichlet(np.ones(20), (2, 2, 20))
    path = headscope.matrix_view(tokens=[f"w{place}" for place in range(20)], scores=rows).save(tmp_path / "x.html")
    page = open_file(path, width=width)
    page.set_viewport_size({"width": width, "height": height})
    page.reload()
    legend = page.locator(".matrix-legend").bounding_box()
    assert legend["y"] + legend["height"] < height


@pytest.mark.parametrize(("width", "named"), [(1366, True), (500, False)])
def test_chips_name_roles_where_one_line_has_room(
    width: int, named: bool, planted: np.ndarray, open_file: Open, tmp_path: Path
) -> None:
    page = open_file(headscope.head_view(tokens=TOKENS, scores=planted).save(tmp_path / "x.html"), width=width)
    page.wait_for_selector(DRAWN)
    chip = page.locator(".chip[data-head='1']")
    assert ("induction" in chip.inner_text()) == named
    assert "induction" in chip.get_attribute("aria-label")


def test_layers_of_a_deep_model_stand_in_two_blocks_on_a_wide_screen(open_file: Open, tmp_path: Path) -> None:
    given = np.random.default_rng(0).dirichlet(np.ones(6), (30, 9, 6))
    given[29, 8] = np.eye(6)
    view = headscope.model_view(tokens=list("abcdef"), scores=given, layer=0, heads=[0])
    page = open_file(view.save(tmp_path / "x.html"), width=1920)
    page.wait_for_selector(".model-view[data-drawn]")
    places = {key: page.locator(f"[data-cell='{key}']").bounding_box() for key in ("0.0", "0.8", "14.0", "15.0", "29.8")}
    assert places["15.0"]["y"] == places["0.0"]["y"]
    assert places["15.0"]["x"] > places["0.8"]["x"] + places["0.8"]["width"] + 20  # room for the numbers of its layers
    assert places["29.8"]["y"] == places["14.0"]["y"]
    # The picture of the last head stands under its button: six level lines, and nothing else.
    room = page.locator("[data-cell='29.8'] .model-room").bounding_box()
    canvas = page.locator("canvas.model-picture").bounding_box()
    left, top, size = round(room["x"] - canvas["x"]), round(room["y"] - canvas["y"]), round(room["height"])
    column = canvas_opacities(page, "canvas.model-picture")[top : top + size, left + size // 2]
    starts = (column[1:] > 0.2) & (column[:-1] <= 0.2)
    assert starts.sum() == 6
    page.locator("[data-cell='14.0']").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.cell") == "15.0"
    page.set_viewport_size({"width": 1366, "height": 768})
    until(page, lambda: page.locator("[data-cell='15.0']").bounding_box()["y"] > places["14.0"]["y"])


def test_the_width_is_used(open_file: Open, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).dirichlet(np.ones(20), (2, 2, 20))
    path = headscope.head_view(tokens=[f"w{place}" for place in range(20)], scores=rows).save(tmp_path / "x.html")
    page = open_file(path, width=1920)
    page.wait_for_selector(DRAWN)
    assert page.locator(".head-drawing").bounding_box()["width"] > 900
    page.click("[role=tab]:has-text('matrix')")
    page.wait_for_selector(".matrix-map")
    assert page.locator(".matrix-map").bounding_box()["width"] > 900


@pytest.mark.parametrize(("height", "rows"), [(1080, 32), (560, 24)])
def test_few_tokens_stand_apart_where_none_has_to_be_scrolled_for_it(
    height: int, rows: int, open_file: Open, tmp_path: Path
) -> None:
    page = open_file(
        headscope.head_view(tokens=list("abcdefghijkl"), scores=np.eye(12)).save(tmp_path / "x.html"), width=1366
    )
    page.set_viewport_size({"width": 1366, "height": height})
    page.reload()
    page.wait_for_selector(DRAWN)
    assert page.locator("[data-token=q0]").bounding_box()["height"] == rows
    assert page.evaluate("(e => e.scrollHeight <= e.clientHeight)(document.querySelector('.head-drawing'))")
