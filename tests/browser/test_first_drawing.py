"""A 12 x 12 model opens soon: the head view and the model view of one layer, or of all heads, at 128 and 512 tokens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from headscope import head_view
from tests.browser.pixels import canvas_opacities
from tests.browser.waiting import redrawn

pytestmark = pytest.mark.xdist_group("browser")

Open = Callable[..., Any]
ALL_HEADS = f"layer=0&heads={','.join(map(str, range(12)))}"  # rather than those that say most
LONG = pytest.param(512, marks=pytest.mark.slow)


def scores_of(count: int) -> NDArray[np.float32]:
    """(12, 12, token, token): noise, which no model is as hard to draw as; layers differ by a factor, to be made soon."""
    noise = np.random.default_rng(4).random((1, 12, count, count), dtype=np.float32) ** 8
    return noise * np.linspace(1, 0.5, 12, dtype=np.float32)[:, None, None, None]


@pytest.fixture(scope="module", params=[128, LONG])
def page_of(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    count = request.param
    path = tmp_path_factory.mktemp("first") / f"{count}.html"
    return count, head_view(tokens=[f"w{i}" for i in range(count)], scores=scores_of(count)).save(path)


def opened(open_it: Callable[[], Any], root: str, what: str) -> Any:
    """A page that is drawn; how long it took is printed here and measured by benchmarks/view_drawing.py."""
    page = open_it()
    page.wait_for_selector(f"{root}[data-drawn]", timeout=60_000)
    taken = page.evaluate("performance.getEntriesByName('headscope:drawn')[0].startTime") / 1000
    print(f"{what}: first drawing {taken:.1f} s after the navigation")
    return page


def test_head_view(page_of: tuple[int, Path], open_file: Open, screenshot: Callable[[Any, str], Path]) -> None:
    count, path = page_of
    page = opened(lambda: open_file(path, ALL_HEADS), ".head-view", f"head view, 12 x 12 x {count}")
    assert "The strongest" in page.inner_text(".head-caption")
    assert int(page.get_attribute(".head-caption", "data-lines")) <= 6000
    screenshot(page, f"head-{count}-tokens")
    # Only the part that is seen is drawn: at the end of the list, the last token's lines are there.
    last = page.locator(f"[data-token=q{count - 1}]")
    last.scroll_into_view_if_needed()
    redrawn(page, ".head-view", last.hover)
    scores = scores_of(count)[0, :, -1]
    best = int(scores.sum(0).argmax())
    cell = page.locator(f"tr[data-target='{best}'] td[data-head='0.3']")
    assert float(cell.get_attribute("data-score")) == pytest.approx(float(scores[3, best]), abs=1 / 255)
    opacity = canvas_opacities(page, ".head-canvas")
    assert opacity[-20:, opacity.shape[1] // 4].max() > 0.1


def test_model_view(page_of: tuple[int, Path], open_file: Open, screenshot: Callable[[Any, str], Path]) -> None:
    count, path = page_of
    page = opened(lambda: open_file(path, "view=model"), ".model-view", f"model view, 12 x 12 x {count}")
    page.hover("[data-cell='3.5']")
    scores = scores_of(count)[3, 5]
    found = page.get_attribute(".reading [data-score]", "data-score")
    assert float(found) == pytest.approx(float(scores.max()), abs=1 / 255)
    screenshot(page, f"model-{count}-tokens")
