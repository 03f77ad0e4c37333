"""The matrix in a real browser: every cell has the colour of its score, and the numbers that people read are Python's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import headscope
from headscope import matrix_view
from tests.browser import waiting
from tests.browser.map_colours import DARK_GROUND, diverging, sequential
from tests.browser.pixels import canvas_pixels, cell_pixels
from tests.browser.waiting import fragment, until

pytestmark = pytest.mark.xdist_group("browser")

Open = Callable[..., Any]
Floats = NDArray[np.float64]
MAP = ".heatmap[data-panel='{}'] .matrix-map"
TEXT = "The heavy box fell on the unbelievably old cat."
TOKENS = ["the", "cat", "that", "sat", "on", "it", "fell"]


@pytest.fixture(scope="module")
def scores() -> Floats:
    """(layer, head, query, key)"""
    return np.random.default_rng(1).dirichlet(np.full(7, 0.4), size=(2, 3, 7))


@pytest.fixture(scope="module")
def reading(minilm: Path) -> headscope.Reading:
    return headscope.open(str(minilm)).read(TEXT)


def drawn(page: Any) -> None:
    page.wait_for_selector(".matrix-maps[data-drawn]")


def redrawn(page: Any, act: Callable[[], object]) -> None:
    waiting.redrawn(page, ".matrix-maps", act)


def point(page: Any, panel: str, row: int, column: int, rows: int, columns: int) -> None:
    """The pointer on the middle of a cell of a map that is not zoomed."""
    box = page.locator(MAP.format(panel)).bounding_box()
    page.mouse.move(box["x"] + (column + 0.5) * box["width"] / columns, box["y"] + (row + 0.5) * box["height"] / rows)


def numbers(page: Any, query: int, key: int) -> tuple[dict[str, float], dict[str, float]]:
    """The scores and the shares of the row that the page says for a pair, by panel."""
    reading = page.wait_for_selector(f".matrix-reading[data-query='{query}'][data-key='{key}']")
    return json.loads(reading.get_attribute("data-scores")), json.loads(reading.get_attribute("data-shares"))


def pixels(page: Any, panel: str, rows: int, columns: int) -> NDArray[np.int64]:
    return cell_pixels(page, f"{MAP.format(panel)} canvas.matrix-scores", rows, columns)


def close(found: NDArray[np.int64], right: Floats) -> bool:
    """A share is drawn as one of 256 colours, neighbours of which are at most 4 apart."""
    return bool(np.abs(found - right).max() <= 4)


def test_every_cell_has_the_colour_of_its_score(scores: Floats, open_file: Open, tmp_path: Path) -> None:
    page = open_file(matrix_view(tokens=TOKENS, scores=scores, layer=1, heads=[2], exact=True).save(tmp_path / "x.html"))
    drawn(page)
    right = scores[1, 2]
    assert close(pixels(page, "weight", 7, 7), sequential(right / right.max()))
    redrawn(page, lambda: page.select_option("select[name=head]", "0"))
    right = scores[1, 0]
    assert close(pixels(page, "weight", 7, 7), sequential(right / right.max()))
    redrawn(page, lambda: page.select_option("select[name=layer]", "0"))
    right = scores[0, 0]
    assert close(pixels(page, "weight", 7, 7), sequential(right / right.max()))
    assert float(page.get_attribute(".matrix-legend", "data-most")) == pytest.approx(right.max(), rel=1e-6)
    assert "view=matrix&layer=0&heads=0" in fragment(page)


@pytest.mark.real
def test_the_numbers_are_those_of_the_reading(
    reading: headscope.Reading, open_file: Open, screenshot: Callable[..., Path], tmp_path: Path
) -> None:
    path = matrix_view(reading, layer=3, heads=[1], compare="norm", exact=True).save(tmp_path / "x.html")
    page = open_file(path, width=1300)
    drawn(page)
    weight, norm = (reading.scores(name)[3, 1].double().numpy() for name in ("weight", "norm"))
    count = len(weight)
    of_row = norm / norm.sum(-1, keepdims=True)
    for row, column in [(2, 3), (count - 1, 0), (0, count - 1)]:
        for panel in ("weight", "norm", "difference"):
            point(page, panel, row, column, count, count)
            said, shares = numbers(page, row, column)
            assert said["weight"] == pytest.approx(weight[row, column], rel=1e-5)
            assert said["norm"] == pytest.approx(norm[row, column], rel=1e-5)
            assert shares["norm"] == pytest.approx(of_row[row, column], rel=1e-4)
            assert said["difference"] == pytest.approx(of_row[row, column] - weight[row, column], abs=1e-6)
    difference = of_row - weight
    assert close(pixels(page, "difference", count, count), diverging(difference / np.abs(difference).max()))
    assert "(row shares)" in page.inner_text(".heatmap[data-panel='difference'] figcaption")
    screenshot(page, "matrix-compare")
    redrawn(page, lambda: page.select_option("select[name=measure]", "effective"))
    redrawn(page, lambda: page.select_option("select[name='compare with']", ""))
    effective = reading.scores("effective")[3, 1].double().numpy()
    point(page, "effective", 2, 3, count, count)
    assert numbers(page, 2, 3)[0]["effective"] == pytest.approx(effective[2, 3], abs=1e-6)


@pytest.mark.real
def test_bytes_are_as_near_as_the_page_says(reading: headscope.Reading, open_file: Open, tmp_path: Path) -> None:
    page = open_file(matrix_view(reading, layer=2, heads=[4], measure="norm").save(tmp_path / "x.html"))
    drawn(page)
    norm = reading.scores("norm")[2, 4].numpy()
    count = len(norm)
    for row, column in [(1, 1), (5, 0), (3, 8)]:
        point(page, "norm", row, column, count, count)
        assert abs(numbers(page, row, column)[0]["norm"] - norm[row, column]) <= norm.max() / 255


@pytest.mark.real
def test_one_map_for_all_heads_together(reading: headscope.Reading, open_file: Open, tmp_path: Path) -> None:
    page = open_file(matrix_view(reading, layer=1, measure="joint_norm", exact=True).save(tmp_path / "x.html"))
    drawn(page)
    joint = reading.scores("joint_norm")[1, 0].numpy()
    point(page, "joint_norm", 4, 2, *joint.shape)
    assert numbers(page, 4, 2)[0]["joint_norm"] == pytest.approx(joint[4, 2], rel=1e-5)
    assert page.locator("select[name=head]").count() == 0
    assert "all heads together" in page.inner_text("figcaption")


@pytest.mark.real
def test_words_merge_the_pieces(reading: headscope.Reading, open_file: Open, tmp_path: Path) -> None:
    page = open_file(matrix_view(reading, layer=3, heads=[1], level="word", exact=True).save(tmp_path / "x.html"))
    drawn(page)
    words = reading.to_words()
    right = words.scores("weight")[3, 1].numpy()
    assert close(pixels(page, "weight", *right.shape), sequential(right / right.max()))
    row = words.tokens.index("unbelievably")
    point(page, "weight", row, row, *right.shape)
    assert numbers(page, row, row)[0]["weight"] == pytest.approx(right[row, row], rel=1e-4)
    assert "unbelievably" in page.inner_text(".matrix-labels.of-rows")


@pytest.mark.real
def test_hidden_special_tokens_leave_the_map_and_are_counted(
    reading: headscope.Reading, open_file: Open, tmp_path: Path
) -> None:
    page = open_file(matrix_view(reading, layer=3, heads=[1], without_sinks=True, exact=True).save(tmp_path / "x.html"))
    drawn(page)
    weight = reading.scores("weight")[3, 1].numpy()
    inside = weight[1:-1, 1:-1]
    assert close(pixels(page, "weight", *inside.shape), sequential(inside / inside.max()))
    hidden = weight[1:-1, [0, -1]].sum() / weight[1:-1].sum()
    assert page.inner_text(".hidden-share") == f"{100 * hidden:.0f}% hidden"
    point(page, "weight", 0, 1, *inside.shape)
    said, shares = numbers(page, 1, 2)  # places count with what is hidden
    assert said["weight"] == pytest.approx(weight[1, 2], rel=1e-5)
    assert shares["weight"] == pytest.approx(weight[1, 2], rel=1e-4)  # of the whole row


@pytest.mark.real
def test_pairs_of_texts(minilm: Path, open_file: Open, tmp_path: Path) -> None:
    reading = headscope.open(str(minilm)).read("The cat sat.", pair="A dog barked loudly.")
    page = open_file(matrix_view(reading, layer=2, heads=[0], pairs="ab", exact=True).save(tmp_path / "x.html"))
    drawn(page)
    second = np.array(reading.batch.sources[0].segments) == 1
    right = reading.scores("weight")[2, 0].numpy()[~second][:, second]
    assert close(pixels(page, "weight", *right.shape), sequential(right / right.max()))


def test_threshold_and_top_leave_out_what_is_small(scores: Floats, open_file: Open, tmp_path: Path) -> None:
    path = matrix_view(tokens=TOKENS, scores=scores, exact=True, layer=0).save(tmp_path / "x.html")
    weight = scores[0, 0]
    page = open_file(path, "view=matrix&layer=0&top=2")
    drawn(page)
    kept = np.where(weight >= np.sort(weight, -1)[:, -2:-1], weight, 0)
    assert close(pixels(page, "weight", 7, 7), sequential(kept / weight.max()))
    redrawn(page, lambda: page.goto(f"{path.as_uri()}#view=matrix&layer=0&least=0.5"))
    kept = np.where(weight >= 0.5 * weight.max(), weight, 0)
    assert close(pixels(page, "weight", 7, 7), sequential(kept / weight.max()))
    row, column = np.unravel_index(weight.argmin(), weight.shape)
    point(page, "weight", int(row), int(column), 7, 7)  # its number is still there
    assert numbers(page, int(row), int(column))[0]["weight"] == pytest.approx(weight.min(), rel=1e-5)


def test_scores_below_zero_are_orange_and_it_is_said(
    open_file: Open, screenshot: Callable[..., Path], tmp_path: Path
) -> None:
    scores = np.random.default_rng(3).normal(size=(1, 1, 7, 7))
    page = open_file(matrix_view(tokens=TOKENS, scores={"effective": scores}, exact=True, layer=0).save(tmp_path / "x.html"))
    drawn(page)
    assert close(pixels(page, "effective", 7, 7), diverging(scores[0, 0] / np.abs(scores).max()))
    assert "orange is below zero" in page.inner_text(".matrix-legend")
    screenshot(page, "matrix-signed")


def test_zoom_by_wheel_buttons_and_double_click(scores: Floats, open_file: Open, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    many = rng.dirichlet(np.full(200, 0.1), size=(1, 1, 200))
    tokens = [f"t{place}" for place in range(200)]
    page = open_file(
        matrix_view(tokens=tokens, scores={"weight": many, "other": many[..., ::-1]}, layer=0).save(tmp_path / "x.html")
    )
    drawn(page)
    thinned = page.locator(".matrix-labels.of-rows .matrix-label").all_inner_texts()
    assert thinned[:2] != ["t0", "t1"]
    redrawn(page, lambda: page.click("[name=zoom-in]"))
    assert float(page.get_attribute(".matrix-maps", "data-zoom")) == pytest.approx(1.6)
    redrawn(page, lambda: page.select_option("select[name='compare with']", "other"))
    assert float(page.get_attribute(".matrix-maps", "data-zoom")) == pytest.approx(1.6)
    box = page.locator(MAP.format("difference")).bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.6 * box["height"])
    for _ in range(6):
        redrawn(page, lambda: page.mouse.wheel(0, -240))
    assert float(page.get_attribute(".matrix-maps", "data-zoom")) > 10
    labels = [int(label[1:]) for label in page.locator(".matrix-labels.of-rows .matrix-label").all_inner_texts()]
    assert labels == list(range(min(labels), max(labels) + 1))  # near enough for each to have room
    said = page.locator(".matrix-reading")
    query, key = int(said.get_attribute("data-query")), int(said.get_attribute("data-key"))
    assert min(labels) <= query <= max(labels)
    page.mouse.move(box["x"] + 0.3 * box["width"] + 1, box["y"] + 0.6 * box["height"])
    for panel, right in (("weight", many[0, 0]), ("other", many[0, 0, :, ::-1])):
        share = right[query, key] / right.max()
        whole = canvas_pixels(page, f"{MAP.format(panel)} canvas.matrix-scores")
        colour = whole[int(0.6 * whole.shape[0]), int(0.3 * whole.shape[1])]
        assert np.abs(colour - sequential(np.array(share))).max() <= 6  # all maps are at the same place
    redrawn(page, lambda: page.click("[name=zoom-reset]"))
    assert page.get_attribute(".matrix-maps", "data-zoom") == "1"
    redrawn(page, lambda: page.dblclick(MAP.format("weight")))
    assert float(page.get_attribute(".matrix-maps", "data-zoom")) == pytest.approx(2)
    assert "keep=" not in fragment(page)  # the second click let go what the first kept


def test_dragging_moves_and_keeps_nothing(scores: Floats, open_file: Open, tmp_path: Path) -> None:
    page = open_file(matrix_view(tokens=TOKENS, scores=scores, exact=True, layer=0).save(tmp_path / "x.html"))
    drawn(page)
    for _ in range(3):
        redrawn(page, lambda: page.click("[name=zoom-in]"))
    box = page.locator(MAP.format("weight")).bounding_box()
    left, top = box["x"] + 5, box["y"] + 5
    page.mouse.move(left, top)
    before = int(page.get_attribute(".matrix-reading", "data-query"))
    page.mouse.down()
    redrawn(page, lambda: page.mouse.move(left + 150, top + 150, steps=4))
    page.mouse.up()
    page.mouse.move(left, top)
    until(page, lambda: int(page.get_attribute(".matrix-reading", "data-query")) < before)
    assert "keep=" not in fragment(page)


def test_click_keeps_row_and_column_and_a_link_brings_them_back(scores: Floats, open_file: Open, tmp_path: Path) -> None:
    path = matrix_view(tokens=TOKENS, scores=scores, exact=True, layer=0).save(tmp_path / "x.html")
    page = open_file(path)
    drawn(page)
    point(page, "weight", 3, 5, 7, 7)
    page.mouse.down()
    page.mouse.up()
    until(page, lambda: "keep=q3,k5" in fragment(page))
    page.mouse.move(2, 2)
    assert numbers(page, 3, 5)[0]["weight"] == pytest.approx(scores[0, 0, 3, 5], rel=1e-5)
    marked = page.locator(".matrix-label[data-kept=true]")
    assert marked.all_inner_texts() == ["sat", "it"]
    again = open_file(path, fragment(page))
    drawn(again)
    assert again.locator(".matrix-label[data-kept=true]").all_inner_texts() == ["sat", "it"]
    page.click(".matrix-labels.of-rows .matrix-label[data-place='0']")
    until(page, lambda: "keep=q3,k5,q0" in fragment(page))
    page.keyboard.press("Escape")
    until(page, lambda: "keep" not in fragment(page))


def test_keys_move_the_crosshair_and_keep(scores: Floats, open_file: Open, tmp_path: Path) -> None:
    page = open_file(matrix_view(tokens=TOKENS, scores=scores, exact=True, layer=0).save(tmp_path / "x.html"))
    drawn(page)
    page.focus(MAP.format("weight"))
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "End"):  # the first shows where it is
        page.keyboard.press(key)
    assert numbers(page, 2, 6)[0]["weight"] == pytest.approx(scores[0, 0, 2, 6], rel=1e-5)
    page.keyboard.press("Enter")
    until(page, lambda: "keep=q2,k6" in fragment(page))
    redrawn(page, lambda: page.keyboard.press("+"))
    for _ in range(6):
        page.keyboard.press("ArrowUp")
    numbers(page, 0, 6)
    assert (
        page.locator(".matrix-labels.of-rows .matrix-label[data-at=true]").inner_text() == "the"
    )  # it was brought into sight


def test_titles_and_legends_of_small_maps_are_whole(open_file: Open, tmp_path: Path) -> None:
    given = {"weight": np.full((1, 1, 1), 1.0), "joint_norm": np.full((1, 1, 1), 2.0)}
    page = open_file(
        matrix_view(tokens=["a"], scores=given, compare="joint_norm", layer=0).save(tmp_path / "x.html"), width=900
    )
    drawn(page)
    for title in page.locator("figcaption").all():
        assert title.evaluate("element => element.scrollWidth <= element.clientWidth"), title.inner_text()
    assert page.locator(".matrix-legend").first.bounding_box()["height"] < 25  # one line
    assert page.get_by_role("button", name="Nearer").count() == 1
    assert page.get_by_role("button", name="Keys").count() == 1


def test_cross_attention_has_other_tokens_on_each_side(open_file: Open, tmp_path: Path) -> None:
    scores = np.random.default_rng(5).dirichlet(np.ones(9), size=(1, 2, 3))
    view = matrix_view(
        tokens=["le", "chat", "noir"], key_tokens=[f"k{place}" for place in range(9)], scores=scores, exact=True
    )
    page = open_file(view.save(tmp_path / "x.html"))
    drawn(page)
    assert close(pixels(page, "weight", 3, 9), sequential(scores[0, 0] / scores[0, 0].max()))
    assert page.locator(".matrix-labels.of-rows .matrix-label").all_inner_texts() == ["le", "chat", "noir"]


def test_tokens_are_text_and_a_dark_page_is_dark(open_file: Open, screenshot: Callable[..., Path], tmp_path: Path) -> None:
    tokens = ["<script>alert(1)</script>", "&amp;", "\"'`", "👩‍🚀", "سلام", "שלום", "a\x00b", "\n", "x" * 80]
    scores = np.eye(9)
    page = open_file(matrix_view(tokens=tokens, scores=scores, layer=0).save(tmp_path / "x.html"), dark=True)
    drawn(page)
    labels = page.locator(".matrix-labels.of-rows .matrix-label bdi").all_text_contents()
    assert labels == ["<script>alert(1)</script>", "&amp;", "\"'`", "👩‍🚀", "سلام", "שלום", "a␀b", "⏎", "x" * 80]
    point(page, "weight", 0, 4, 9, 9)
    assert page.inner_text(".matrix-reading b") == "<script>alert(1)</script> → سلام"
    found = pixels(page, "weight", 9, 9)
    assert np.abs(found[0, 1] - np.array(DARK_GROUND)).max() <= 1
    assert found[0, 0].sum() > 500  # bright
    screenshot(page, "matrix-dark")
    redrawn(page, lambda: page.click("[name=theme]"))
    assert pixels(page, "weight", 9, 9)[0, 1].tolist() == [255, 255, 255]


def test_a_long_text_loses_no_score_and_is_drawn_at_once(
    open_file: Open, screenshot: Callable[..., Path], tmp_path: Path
) -> None:
    scores = np.zeros((1, 1, 4096, 4096), dtype=np.float32)
    scores[0, 0, 3000, 1234] = 1.0
    tokens = [f"t{place}" for place in range(4096)]
    page = open_file(matrix_view(tokens=tokens, scores=scores, keep=["q3000", "k1234"], layer=0).save(tmp_path / "x.html"))
    drawn(page)
    assert page.evaluate("performance.getEntriesByName('headscope:drawn')[0].startTime") < 6000
    whole = canvas_pixels(page, "canvas.matrix-scores")
    where = np.argwhere(whole[..., 0] < 50) / whole.shape[:2]
    assert 1 <= len(where) <= 4
    assert np.abs(where * 4096 - [3000, 1234]).max() <= 16  # two pixels of 4,096 / 550 tokens each
    for _ in range(14):
        page.click("[name=zoom-in]")
    assert numbers(page, 3000, 1234)[0]["weight"] == 1.0
    near = canvas_pixels(page, "canvas.matrix-scores")
    assert 0.003 < (near[..., 0] < 50).mean() < 0.05  # the kept cell stayed in sight, and is large now
    screenshot(page, "matrix-4096")


@pytest.mark.real
def test_a_phone_scrolls_down_but_not_sideways_and_pinches(
    reading: headscope.Reading, open_file: Open, screenshot: Callable[..., Path], tmp_path: Path
) -> None:
    path = matrix_view(reading, layer=3, heads=[1], compare="norm").save(tmp_path / "x.html")
    page = open_file(path, width=390, height=800, phone=True)
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.get_attribute(".matrix-maps", "data-stacked") == "true"
    page.locator(MAP.format("weight")).scroll_into_view_if_needed()
    screenshot(page, "matrix-phone")
    box = page.locator(MAP.format("weight")).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 60
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *apart: float) -> None:
        points = [{"x": x - one, "y": y, "id": 0} for one in apart] + [{"x": x + one, "y": y, "id": 1} for one in apart]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 20)
    redrawn(page, lambda: [touch("touchMove", 20 + 4 * step) for step in range(1, 11)])
    touch("touchEnd")
    assert 2 < float(page.get_attribute(".matrix-maps", "data-zoom")) < 4


def test_nothing_left_to_show_is_said(open_file: Open, tmp_path: Path) -> None:
    page = open_file(
        matrix_view(tokens=["[CLS]", "[SEP]"], scores=np.eye(2), special=[True, True], without_sinks=True, layer=0).save(
            tmp_path / "x.html"
        )
    )
    page.wait_for_selector("text=No token is left to show")
