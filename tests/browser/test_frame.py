"""A view in a frame, as notebooks have it: as high as what it shows where a script may run beside it, and safe anywhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headscope

pytestmark = pytest.mark.xdist_group("browser")

WORDS = ["the", "keys", "to", "the", "cabinet", "in", "the", "hall", "are", "on", "the", "table"]


def arrays(tokens: int, layers: int = 3, heads: int = 4) -> dict[str, Any]:
    scores = np.random.default_rng(0).dirichlet(np.ones(tokens), size=(layers, heads, tokens)).astype(np.float32)
    return {"tokens": [WORDS[place % len(WORDS)] for place in range(tokens)], "scores": scores}


@pytest.fixture
def notebook(browser: Any, tmp_path: Path) -> Callable[..., Any]:
    """notebook(frames...) -> a page that has them one below the other, as cells of a notebook."""
    opened = []

    def show(*frames: str, width: int = 1000) -> Any:
        path = tmp_path / f"notebook{len(opened)}.html"
        path.write_text(f"<!doctype html><meta charset=utf-8><body>{'<hr>'.join(frames)}</body>", "utf-8")
        page = browser.new_page(viewport={"width": width, "height": 800})
        opened.append(page)
        page.goto(path.as_uri())
        for number in range(len(frames)):
            page.frame_locator("iframe").nth(number).locator("[data-ready=true]").wait_for()
        return page

    yield show
    for page in opened:
        page.close()


def height(page: Any, number: int = 0) -> float:
    return page.locator("iframe").nth(number).bounding_box()["height"]


def inside(page: Any, number: int = 0) -> dict[str, float]:
    """How high the page in a frame is, and how much of it, or of its drawing, is scrolled away."""
    measure = """() => ({
        page: document.getElementById("app").getBoundingClientRect().height,
        away: document.documentElement.scrollHeight - document.documentElement.clientHeight,
        drawing: [...document.querySelectorAll(".head-drawing")].reduce(
            (sum, one) => sum + one.scrollHeight - one.clientHeight, 0),
    })"""
    return page.locator("iframe").nth(number).element_handle().content_frame().evaluate(measure)


def settled(page: Any, number: int = 0) -> dict[str, float]:
    """The same, when the frame's height has stayed for a while; a frame that goes on growing never comes here."""
    before = -1.0
    for _ in range(40):
        page.wait_for_timeout(250)
        if (now := height(page, number)) == before:
            return inside(page, number)
        before = now
    raise AssertionError(f"the frame goes on changing: {before} pixels")


@pytest.mark.parametrize("view", ["head", "model", "matrix"])
@pytest.mark.parametrize("tokens", [4, 24])
@pytest.mark.parametrize("width", [1000, 420])
def test_a_frame_is_as_high_as_its_page(notebook: Callable[..., Any], view: str, tokens: int, width: int) -> None:
    show = getattr(headscope, f"{view}_view")
    page = notebook(show(**arrays(tokens))._repr_html_(), width=width)
    found = settled(page)
    assert height(page) == pytest.approx(found["page"], abs=1)
    assert found["away"] <= 1
    assert found["drawing"] <= 1


def test_a_frame_grows_and_shrinks_with_what_is_chosen(notebook: Callable[..., Any]) -> None:
    page = notebook(headscope.head_view(**arrays(5, layers=9))._repr_html_())
    settled(page)
    small = height(page)
    page.frame_locator("iframe").get_by_role("tab", name="model").click()
    found = settled(page)
    assert height(page) > small + 150
    assert found["away"] <= 1
    page.frame_locator("iframe").get_by_role("tab", name="head").click()
    settled(page)
    assert height(page) == pytest.approx(small, abs=2)


def test_each_of_several_frames_has_its_own_height(notebook: Callable[..., Any]) -> None:
    views = [headscope.head_view(**arrays(tokens))._repr_html_() for tokens in (4, 20)]
    page = notebook(*views)
    assert [settled(page, number)["away"] for number in (0, 1)] == [0, 0]
    assert height(page, 1) > height(page, 0) + 100


def test_a_page_of_any_length_stays_within_limits_and_scrolls(notebook: Callable[..., Any]) -> None:
    page = notebook(headscope.model_view(**arrays(6, layers=60, heads=9))._repr_html_())
    found = settled(page)
    assert height(page) == 2000
    assert found["away"] > 100


def test_a_height_that_is_asked_for_stays(notebook: Callable[..., Any]) -> None:
    page = notebook(headscope.head_view(**arrays(24), height=400)._repr_html_())
    settled(page)
    assert height(page) == 400


def test_without_the_script_a_frame_is_what_it_was(notebook: Callable[..., Any]) -> None:
    """As in a notebook that is not trusted: nobody answers, and the page fits itself into the frame."""
    page = notebook(re.sub(r"<script>.*?</script>$", "", headscope.head_view(**arrays(24))._repr_html_(), flags=re.DOTALL))
    found = settled(page)
    assert height(page) == 620
    assert found["drawing"] > 10


def test_a_frame_takes_nothing_but_heights_and_from_its_own_page_only(notebook: Callable[..., Any]) -> None:
    page = notebook(headscope.head_view(**arrays(4))._repr_html_())
    settled(page)
    before = height(page)
    page.evaluate("() => window.postMessage({headscope: 1500}, '*')")  # from the notebook itself
    inner = page.locator("iframe").element_handle().content_frame()
    for said in ("'5000px; position: fixed'", "NaN", "Infinity", "null", "{}"):
        inner.evaluate(f"() => window.parent.postMessage({{headscope: {said}}}, '*')")
    page.wait_for_timeout(300)
    assert height(page) == before
    assert page.locator("iframe").evaluate("frame => frame.style.position") == ""
    inner.evaluate("() => window.parent.postMessage({headscope: 1e9}, '*')")
    page.wait_for_timeout(300)
    assert height(page) == 2000
    reach = "() => { try { return String(window.parent.document.title) } catch (error) { return error.name } }"
    assert inner.evaluate(reach) == "SecurityError"


def test_the_enlarged_head_stands_beside_the_one_that_was_clicked(notebook: Callable[..., Any]) -> None:
    page = notebook(headscope.model_view(**arrays(6, layers=12))._repr_html_(), width=1200)
    settled(page)
    frame = page.frame_locator("iframe")
    tops = {}
    for layer in (0, 10):
        frame.locator(".model-cell").nth(4 * layer).click()
        page.wait_for_timeout(300)
        cell, panel = (
            frame.locator(".model-cell[aria-pressed=true]").bounding_box(),
            frame.locator(".enlarged").bounding_box(),
        )
        assert panel["y"] <= cell["y"] + 5
        assert panel["y"] + panel["height"] >= cell["y"]
        tops[layer] = panel["y"] - frame.locator(".model-main").bounding_box()["y"]
    assert tops[10] > tops[0] + 150
