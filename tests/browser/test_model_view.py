"""The model view in a real browser: every head's small picture shows its scores; sorting, filtering and enlarging heads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import headscope
from headscope import model_view
from headscope.views.content import HeadStatistic
from headscope.views.view import View
from tests.browser import waiting
from tests.browser.map_colours import diverging, sequential
from tests.browser.pixels import canvas_opacities, canvas_pixels
from tests.browser.waiting import fragment, until

pytestmark = pytest.mark.xdist_group("browser")

Open = Callable[..., Any]
Screenshot = Callable[[Any, str], Path]
Floats = NDArray[np.float64]
PICTURE = ".model-picture"
TOKENS = ["the", "cat", "that", "sat", "on", "it", "fell"]


@pytest.fixture(scope="module")
def scores() -> Floats:
    """(layer, head, query, key)"""
    return np.random.default_rng(1).dirichlet(np.full(7, 0.4), size=(3, 4, 7))


@pytest.fixture(scope="module")
def entropies() -> Floats:
    """(layer, head)"""
    return np.random.default_rng(2).permutation(12).reshape(3, 4) / 4 - 1


@pytest.fixture(scope="module")
def with_run(scores: Floats, entropies: Floats, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page whose heads have two statistics, the second not for head 2.3."""
    view = model_view(tokens=TOKENS, scores=scores, exact=True, layer=0)
    names = [f"encoder self {layer}.{head}" for layer in range(3) for head in range(4)]
    statistics = [
        HeadStatistic("entropy.entropy", "entropy", "how evenly", dict(zip(names, entropies.ravel().tolist(), strict=True))),
        HeadStatistic("distance.distance", "distance", "how far", {name: float(i) for i, name in enumerate(names[:-1])}),
    ]
    path = tmp_path_factory.mktemp("model") / "run.html"
    return View(replace(view.content, statistics=statistics), view.state, exact=True).save(path)


def drawn(page: Any) -> None:
    page.wait_for_selector(".model-view[data-drawn]", timeout=20_000)


def redrawn(page: Any, act: Callable[[], object]) -> None:
    waiting.redrawn(page, ".model-view", act)


def cell(page: Any, key: str) -> tuple[slice, slice]:
    """Where the picture of a head is on the canvas under all of them."""
    box = page.locator(f"[data-cell='{key}'] .model-room").bounding_box()
    canvas = page.locator(PICTURE).bounding_box()
    left, top = round(box["x"] - canvas["x"]), round(box["y"] - canvas["y"])
    return slice(top, top + round(box["height"])), slice(left, left + round(box["width"]))


def order(page: Any) -> list[str]:
    """The heads as they stand, row by row."""
    boxes = page.locator(".model-cell:visible").evaluate_all(
        "(cells) => cells.map((cell) => [cell.offsetTop, cell.offsetLeft, cell.dataset.cell])"
    )
    return [key for _, _, key in sorted(boxes)]


def test_small_lines_go_where_the_scores_are(open_file: Open, tmp_path: Path) -> None:
    given = np.zeros((2, 3, 4, 4))
    given[:] = np.eye(4)
    given[1, 2] = 0
    given[1, 2, :, 0] = 0.2  # all attend to the first, weakly: each head is drawn up to its own largest
    page = open_file(model_view(tokens=["a", "b", "c", "d"], scores=given, exact=True, layer=0).save(tmp_path / "x.html"))
    drawn(page)
    opacity = canvas_opacities(page, PICTURE)
    for key, to in [("0.0", [0, 1, 2, 3]), ("1.1", [0, 1, 2, 3]), ("1.2", [0, 0, 0, 0])]:
        picture = opacity[cell(page, key)]
        size = len(picture)
        step = (size - 4) / 4
        at = size - 8  # a column near the right end, where lines are near the tokens they go to
        share = (at - 4) / (size - 8)
        for source in range(4):
            y = 2 + (source + 0.5) * step + (to[source] - source) * step * share
            assert picture[round(y) - 1 : round(y) + 2, at].max() > 0.5, (key, source)
        assert (picture[:, at] > 0.3).sum() <= 3 * len(set(to)) + 4, key


def test_longer_texts_are_heat_maps_with_the_colours_of_the_scores(open_file: Open, tmp_path: Path) -> None:
    given = np.random.default_rng(3).random((2, 2, 40, 40))
    given[1] *= 0.01  # each head up to its own largest
    signed = given - 0.5 * given.max((2, 3), keepdims=True)
    view = model_view(
        tokens=[f"w{i}" for i in range(40)], scores={"weight": given, "effective": signed}, exact=True, layer=0
    )
    page = open_file(view.save(tmp_path / "x.html"))
    drawn(page)
    for measure, array, palette in [("weight", given, sequential), ("effective", signed, diverging)]:
        if measure == "effective":
            redrawn(page, lambda: page.select_option("select[name=measure]", "effective"))
            assert "Orange is below zero" in page.inner_text(".head-caption")
        pixels = canvas_pixels(page, PICTURE)
        for layer in range(2):
            for head in range(2):
                picture = pixels[cell(page, f"{layer}.{head}")]
                middles = ((np.arange(40) + 0.5) * len(picture) / 40).astype(int)
                scores = array[layer, head]
                right = palette(scores / np.abs(scores).max())
                assert np.abs(picture[np.ix_(middles, middles)] - right).max() <= 4, (measure, layer, head)


@pytest.mark.real
def test_pointing_at_a_head_says_its_strongest_pair(
    minilm: Path, open_file: Open, tmp_path: Path, screenshot: Screenshot
) -> None:
    reading = headscope.open(str(minilm)).read("The heavy box fell on the unbelievably old cat.")
    page = open_file(model_view(reading, layer=0).save(tmp_path / "x.html"))
    drawn(page)
    screenshot(page, "model-lines")
    for measure in ("weight", "norm"):
        if measure == "norm":
            redrawn(page, lambda: page.select_option("select[name=measure]", "norm"))
        scores = reading.scores(measure).numpy().astype(float)
        for layer, head in [(0, 0), (3, 7), (5, 11)]:
            page.hover(f"[data-cell='{layer}.{head}']")
            page.wait_for_selector(f".reading[data-pointed='{layer}.{head}']")
            most = scores[layer, head].max()
            said = page.inner_text(".reading")
            assert said.startswith(f"head {layer}.{head} · strongest: ")
            assert float(page.get_attribute(".reading [data-score]", "data-score")) == pytest.approx(most, abs=most / 255)
            query, key = (label.strip() for label in said.split("strongest: ")[1].split(f": {measure}")[0].split("→"))
            close = np.argwhere(scores[layer, head] >= most * (1 - 1 / 255))
            assert (query, key) in [(reading.tokens[row], reading.tokens[column]) for row, column in close]
    # Sinks left out: the share of all heads.
    special = np.array([token in ("[CLS]", "[SEP]") for token in reading.tokens])
    redrawn(page, lambda: page.select_option("select[name=sinks]", "hidden"))
    hidden = scores[:, :, ~special][..., special].sum() / scores[:, :, ~special].sum()
    until(page, lambda: page.inner_text(".hidden-share") == f"{100 * hidden:.{0 if hidden >= 0.0995 else 1}f}% hidden")
    # All heads together: one picture a layer.
    redrawn(page, lambda: page.select_option("select[name=measure]", "joint_norm"))
    assert order(page) == ["0", "1", "2", "3", "4", "5"]
    page.click("[data-cell='4']")
    page.wait_for_selector(".enlarged[data-head='4']")
    screenshot(page, "model-joint")


def test_a_click_enlarges_a_head_and_a_link_opens_it(
    scores: Floats, with_run: Path, open_file: Open, screenshot: Screenshot
) -> None:
    page = open_file(with_run)
    drawn(page)
    assert page.locator(".enlarged").count() == 0
    page.click("[data-cell='1.2']")
    page.wait_for_selector(".enlarged[data-head='1.2']")
    until(page, lambda: fragment(page) == "view=model&layer=1&heads=2")
    page.hover(".enlarged [data-token=q4]")
    best = int(scores[1, 2, 4].argmax())
    found = page.wait_for_selector(f".enlarged tr[data-target='{best}'] td[data-head='1.2']")
    assert float(found.get_attribute("data-score")) == pytest.approx(scores[1, 2, 4, best], rel=1e-5)
    screenshot(page, "model-enlarged")
    again = open_file(with_run, fragment(page))
    again.wait_for_selector(".enlarged[data-head='1.2']")
    again.click(".enlarged button[name=open]")
    again.wait_for_selector(".head-view[data-drawn]")
    assert again.locator(".chip[aria-pressed=true]").all_inner_texts() == ["2"]
    until(again, lambda: fragment(again) == "layer=1&heads=2")
    page.click(".enlarged button[name=close]")
    until(page, lambda: page.locator(".enlarged").count() == 0)
    assert page.evaluate("document.activeElement.dataset.cell") == "1.2"


def test_heads_are_sorted_and_filtered_by_a_statistic(
    scores: Floats, entropies: Floats, with_run: Path, open_file: Open, screenshot: Screenshot
) -> None:
    page = open_file(with_run)
    drawn(page)
    keys = [f"{layer}.{head}" for layer in range(3) for head in range(4)]
    assert order(page) == keys
    redrawn(page, lambda: page.select_option("select[name=sort]", "entropy.entropy"))
    ranked = [keys[i] for i in np.argsort(-entropies.ravel())]
    assert order(page) == ranked
    page.hover(f"[data-cell='{ranked[0]}']")
    said = page.locator(f".reading[data-pointed='{ranked[0]}'] [data-statistic]")
    assert said.evaluate_all("(found) => found.map((one) => one.dataset.statistic)")[0] == "entropy.entropy"
    assert float(said.first.get_attribute("data-value")) == entropies.max()
    # The pictures went with their heads: that of the first is the strongest line of just this head.
    layer, head = (int(part) for part in ranked[0].split("."))
    assert float(page.get_attribute(".reading [data-score]", "data-score")) == pytest.approx(
        scores[layer, head].max(), rel=1e-5
    )
    middle = float(np.sort(entropies.ravel())[6])
    page.locator("input[name=above]").fill(str(middle))
    until(page, lambda: order(page) == ranked[:6])
    assert page.inner_text(".sorting-count") == "6 of 12 heads"
    until(page, lambda: "&above=" in fragment(page))
    named, above = fragment(page).split("&above=")
    assert named == "view=model&layer=0&sort=entropy.entropy"
    assert float(above) == pytest.approx(middle, abs=2.75 / 200)  # a step of the slider
    screenshot(page, "model-sorted")
    again = open_file(with_run, fragment(page))
    drawn(again)
    assert order(again) == ranked[:6]
    picture, other = (canvas_pixels(one, PICTURE)[cell(one, ranked[3])] for one in (page, again))
    assert (picture == other).all()
    # A head that a statistic does not know comes last.
    page.select_option("select[name=sort]", "distance.distance")
    until(page, lambda: order(page) == [*keys[10::-1], "2.3"])


def test_keys_move_among_heads(with_run: Path, open_file: Open, screenshot: Screenshot) -> None:
    page = open_file(with_run)
    drawn(page)
    page.focus("[data-cell='0.0']")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.cell") == "1.1"
    page.wait_for_selector(".reading[data-pointed='1.1']")
    screenshot(page, "model-keyboard")
    page.keyboard.press("Enter")
    page.wait_for_selector(".enlarged[data-head='1.1']")
    page.keyboard.press("Escape")
    until(page, lambda: page.locator(".enlarged").count() == 0)


def test_dark_mode_and_thresholds_draw_anew(scores: Floats, with_run: Path, open_file: Open, screenshot: Screenshot) -> None:
    page = open_file(with_run)
    drawn(page)
    light = canvas_pixels(page, PICTURE)[cell(page, "0.0")]
    redrawn(page, lambda: page.click("button[name=theme]"))
    screenshot(page, "model-dark")
    dark = canvas_pixels(page, PICTURE)[cell(page, "0.0")]
    assert dark.max() > 200 > light.max(axis=2)[light.sum(2) > 0].min()
    before = canvas_opacities(page, PICTURE)[cell(page, "0.0")].sum()
    redrawn(page, lambda: page.locator("input[name=top]").fill("1"))
    after = canvas_opacities(page, PICTURE)[cell(page, "0.0")].sum()
    assert 0 < after < before


def test_tokens_are_text_whatever_they_are(open_file: Open, tmp_path: Path) -> None:
    tokens = ["<script>alert(1)</script>", "&amp;\"'", "مرحبا", "a\x00b"]
    given = np.eye(4)[[0, 0, 2, 3]][None, None] * np.array([1, 0.1, 0.5, 0.5])[:, None]
    page = open_file(model_view(tokens=tokens, scores=given, exact=True, layer=0).save(tmp_path / "x.html"))
    drawn(page)
    page.click("[data-cell='0.0']")
    page.wait_for_selector(".enlarged .tokens")
    assert page.locator(".enlarged [data-token^=q]").all_text_contents() == [
        "<script>alert(1)</script>",
        "&amp;\"'",
        "مرحبا",
        "a␀b",
    ]
    assert "<script>alert(1)</script> → <script>alert(1)</script>" in page.inner_text(".model-main .reading")


def test_it_fits_a_phone(with_run: Path, open_file: Open, tmp_path: Path, screenshot: Screenshot) -> None:
    page = open_file(with_run, width=390, height=844, phone=True)
    drawn(page)
    page.tap("[data-cell='2.1']")
    page.wait_for_selector(".enlarged[data-head='2.1']")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    screenshot(page, "model-phone")
    many = model_view(tokens=["a", "b"], scores=np.full((2, 32, 2, 2), 0.5), layer=0).save(tmp_path / "x.html")
    wide = open_file(many, width=390, height=844, phone=True)
    drawn(wide)
    assert wide.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_a_thousand_heads(open_file: Open, tmp_path: Path, screenshot: Screenshot) -> None:
    given = np.random.default_rng(5).random((32, 32, 48, 48), dtype=np.float32) ** 8
    given[7, 9] = np.eye(48)
    page = open_file(
        model_view(tokens=[f"w{i}" for i in range(48)], scores=given, layer=0).save(tmp_path / "x.html"), width=1400
    )
    drawn(page)
    picture = canvas_pixels(page, PICTURE)[cell(page, "7.9")]
    assert (np.diagonal(picture.sum(2)) < 300).all()  # dark on white
    assert np.median(picture.sum(2)) > 700
    screenshot(page, "model-thousand-heads")
