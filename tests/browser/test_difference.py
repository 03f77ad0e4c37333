"""The difference of two in a real browser: every number and colour is numpy's B - A, with sinks in and out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import headscope
from tests.browser import waiting
from tests.browser.map_colours import diverging, sequential
from tests.browser.pixels import canvas_pixels, cell_pixels
from tests.browser.waiting import fragment, until
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

pytestmark = pytest.mark.xdist_group("browser")

Open = Callable[..., Any]
Screenshot = Callable[..., Path]
Floats = NDArray[np.float64]
A = "The keys to the cabinet are on the table."
B = "The key to the old cabinet is on the table."
# Where the tokens of both stand: [CLS] the keys/key to the old cabinet are/is on the table . [SEP]
OLD = 5
PLACES = [*range(OLD), None, *range(OLD, 12)]  # of A's tokens among both


@dataclass(frozen=True)
class Two:
    """Weights (layer, head, query, key) of two readings between the tokens of both, and their views."""

    a: headscope.Reading
    b: headscope.Reading

    def joint(self, measure: str = "weight") -> tuple[Floats, Floats]:
        """A's scores with an empty row and column for what only B has, and B's."""
        one, other = (reading.scores(measure).double().numpy() for reading in (self.a, self.b))
        placed = np.zeros_like(other)
        here = [place for place, own in enumerate(PLACES) if own is not None]
        placed[np.ix_(range(len(one)), range(one.shape[1]), here, here)] = one
        return placed, other

    def apart(self, measure: str = "weight") -> Floats:
        one, other = self.joint(measure)
        difference = other - one
        difference[:, :, OLD] = 0  # nothing to compare with
        return difference


@pytest.fixture(scope="module")
def two(minilm: Path) -> Two:
    with headscope.open(str(minilm)) as lens:
        return Two(lens.read(A), lens.read(B))


@pytest.fixture(scope="module")
def saved(two: Two, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return headscope.difference_view(two.a, two.b, exact=True).save(tmp_path_factory.mktemp("difference") / "x.html")


def matrix_numbers(page: Any, panel: str, row: int, column: int, count: int) -> dict[str, float]:
    box = page.locator(f".heatmap[data-panel='{panel}'] .matrix-map").bounding_box()
    page.mouse.move(box["x"] + (column + 0.5) * box["width"] / count, box["y"] + (row + 0.5) * box["height"] / count)
    said = page.wait_for_selector(f".matrix-reading[data-query='{row}'][data-key='{column}']")
    return json.loads(said.get_attribute("data-scores"))


def pixels(page: Any, panel: str, count: int) -> NDArray[np.int64]:
    return cell_pixels(page, f".heatmap[data-panel='{panel}'] canvas.matrix-scores", count, count)


@pytest.mark.real
@pytest.mark.parametrize("measure", ["weight", "norm"])
def test_the_matrix_has_both_and_their_difference(two: Two, saved: Path, open_file: Open, measure: str) -> None:
    page = open_file(saved, f"view=matrix&layer=3&heads=1&measure={measure}", width=1300)
    page.wait_for_selector(".matrix-maps[data-drawn]")
    (a, b), apart = two.joint(measure), two.apart(measure)
    a, b, apart = a[3, 1], b[3, 1], apart[3, 1]
    count = len(b)
    for row, column in [(2, OLD), (7, 2), (OLD, 3), (count - 1, 0)]:
        said = matrix_numbers(page, "difference", row, column, count)
        right = {"a": a[row, column], "b": b[row, column], "difference": apart[row, column]}
        assert said == pytest.approx(right, rel=1e-4, abs=1e-7)
    most = max(a.max(), b.max())
    for panel, map_ in (("a", a), ("b", b)):
        assert np.abs(pixels(page, panel, count) - sequential(map_ / most)).max() <= 4
    assert np.abs(pixels(page, "difference", count) - diverging(apart / np.abs(apart).max())).max() <= 4


@pytest.mark.real
def test_bytes_show_no_difference_that_rounding_makes(two: Two, open_file: Open, tmp_path: Path) -> None:
    same = headscope.difference_view(two.a, two.a, view="matrix", layer=2, heads=[3]).save(tmp_path / "same.html")
    page = open_file(same)
    page.wait_for_selector(".matrix-maps[data-drawn]")
    assert page.inner_text(".heatmap[data-panel='difference'] .matrix-legend") == "There is no difference."
    near = headscope.difference_view(two.a, two.b, view="matrix", layer=2, heads=[3]).save(tmp_path / "near.html")
    page = open_file(near)
    page.wait_for_selector(".matrix-maps[data-drawn]")
    (a, b), apart = two.joint(), two.apart()
    bound = (a[2, 3].max() + b[2, 3].max()) / 255
    for row, column in [(2, OLD), (7, 2), (4, 4)]:
        said = matrix_numbers(page, "difference", row, column, len(apart[2, 3]))["difference"]
        assert abs(said - apart[2, 3, row, column]) <= bound


@pytest.mark.real
def test_heads_are_ranked_and_the_first_is_open(two: Two, saved: Path, open_file: Open, screenshot: Screenshot) -> None:
    page = open_file(saved, width=1400)
    page.wait_for_selector(".model-view[data-drawn]")
    (a, b), rows = two.joint(), [row for row in range(13) if row != OLD]
    changes = np.abs(b - a)[:, :, rows].sum(-1).mean(-1) / 2
    ranked = [f"{layer}.{head}" for layer, head in sorted(np.ndindex(*changes.shape), key=lambda head: -changes[head])]
    boxes = {one.get_attribute("data-cell"): one.bounding_box() for one in page.locator(".model-cell").all()}
    assert sorted(boxes, key=lambda key: (boxes[key]["y"], boxes[key]["x"])) == ranked
    assert page.get_attribute(".enlarged", "data-head") == ranked[0]
    layer, head = map(int, ranked[0].split("."))
    strongest = max(two.apart()[layer, head].ravel(), key=abs)
    assert float(page.get_attribute(".enlarged .reading b", "data-score")) == pytest.approx(strongest, rel=1e-4)
    assert page.inner_text(".enlarged .reading b")[0] in "+−"
    assert [page.inner_text(f".title {tag} >> nth={place}") for tag, place in (("del", 0), ("ins", 0), ("ins", 1))] == [
        "keys", "key", "old",
    ]  # fmt: skip
    screenshot(page, "difference-model")


@pytest.mark.real
def test_lines_are_blue_and_orange_and_tokens_marked(two: Two, saved: Path, open_file: Open) -> None:
    page = open_file(saved, "view=head&layer=5&heads=9")
    page.wait_for_selector(".head-view[data-drawn]")
    changes = {one.inner_text(): one.get_attribute("data-change") for one in page.locator(".attending .token").all()}
    assert (changes["old"], changes["keys/key"], changes["cabinet"]) == ("put in", "exchanged", None)
    found = canvas_pixels(page, ".head-canvas")[..., :3].reshape(-1, 3)
    red, blue = found[:, 0], found[:, 2]
    assert (blue > red + 80).any()
    assert (red > blue + 80).any()
    page.hover(f"[data-token='q{OLD}']")
    until(page, lambda: "only B has it" in page.inner_text(".numbers"))
    page.hover("[data-token='q2']")
    rows = page.locator("[data-direction=attended] tbody tr")
    until(page, lambda: rows.count() > 0)
    said = {
        int(row.get_attribute("data-target")): float(row.locator("td").get_attribute("data-score")) for row in rows.all()
    }
    right = two.apart()[5, 9, 2]
    assert said == pytest.approx({column: right[column] for column in said}, rel=1e-4, abs=1e-7)


@pytest.mark.real
def test_one_of_the_two_alone_by_key_and_by_choice(two: Two, saved: Path, open_file: Open) -> None:
    page = open_file(saved, "view=matrix&layer=3&heads=1")
    page.wait_for_selector(".matrix-maps[data-drawn]")
    waiting.redrawn(page, ".matrix-maps", lambda: page.keyboard.press("b"))
    assert "of=a" in fragment(page)
    assert page.locator(".heatmap").count() == 1
    assert matrix_numbers(page, "weight", 2, 3, 13)["weight"] == pytest.approx(two.joint()[0][3, 1, 2, 3], rel=1e-4)
    assert page.inner_text("[data-place='2'].matrix-label >> nth=0") == "keys"
    waiting.redrawn(page, ".matrix-maps", lambda: page.select_option("select[name=show]", "b"))
    assert matrix_numbers(page, "weight", 2, 3, 13)["weight"] == pytest.approx(two.joint()[1][3, 1, 2, 3], rel=1e-4)
    assert page.locator("select[name='compare with']").count() == 0


@pytest.mark.real
@pytest.mark.parametrize("sinks", ["hidden", "renormalised"])
def test_a_decoder_without_its_sinks(
    smollm: Path, open_file: Open, sinks: str, tmp_path: Path, screenshot: Screenshot
) -> None:
    with headscope.open(str(next(smollm.glob("*.gguf")))) as lens:
        a = lens.read("When Mary and John went to the store, John gave a drink to")
        b = lens.read("When Mary and John went to the store, Mary gave a drink to")
    view = headscope.difference_view(a, b, view="matrix", exact=True, only={24: [4]}, renormalise=sinks == "renormalised")
    page = open_file(view.save(tmp_path / "x.html"), width=1300)
    page.wait_for_selector(".matrix-maps[data-drawn]")
    one, other = (reading.scores("weight", layer=24)[4].double().numpy() for reading in (a, b))
    left = ~(np.array(a.sinks()) | np.array(b.sinks()))
    assert not left[0]
    if sinks == "renormalised":
        one, other = (np.where(left, map_, 0) / map_[:, left].sum(-1, keepdims=True).clip(1e-30) for map_ in (one, other))
    rows, columns = [len(one) - 1, 10], np.flatnonzero(left)
    for row in rows:
        for column in (1, 3):
            box = page.locator(".heatmap[data-panel='difference'] .matrix-map").bounding_box()
            shown_rows = [place for place in range(len(one)) if place >= columns[0]]
            x, y = list(columns).index(column), shown_rows.index(row)
            page.mouse.move(
                box["x"] + (x + 0.5) * box["width"] / len(columns), box["y"] + (y + 0.5) * box["height"] / len(shown_rows)
            )
            said = page.wait_for_selector(f".matrix-reading[data-query='{row}'][data-key='{column}']")
            found = json.loads(said.get_attribute("data-scores"))["difference"]
            assert found == pytest.approx(other[row, column] - one[row, column], rel=1e-4, abs=1e-6)
    assert "hidden" in page.inner_text(".hidden-share")
    screenshot(page, f"difference-decoder-{sinks}")


@pytest.mark.real
def test_it_fits_a_phone_and_the_dark(saved: Path, open_file: Open, screenshot: Screenshot) -> None:
    page = open_file(saved, width=390, height=844, phone=True, dark=True)
    page.wait_for_selector(".model-view[data-drawn]")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    screenshot(page, "difference-phone")


def test_two_models_say_who_is_who_and_what_one_has_alone(open_file: Open, tmp_path: Path) -> None:
    readings = []
    for name, layers in (("small", 2), ("<b>large</b>", 3)):
        with headscope.open(tiny("bert", num_hidden_layers=layers), tiny_tokenizer("wordpiece"), name=name) as lens:
            readings.append(lens.read("the <script> cats sat"))
    page = open_file(headscope.difference_view(*readings).save(tmp_path / "x.html"))
    page.wait_for_selector(".model-view[data-drawn]")
    assert page.inner_text(".read-by") == "A is small, B is <b>large</b>"
    assert "Only B has layer 2 (encoder self): it is not compared." in page.inner_text(".viewer")
    assert page.locator("select[name=show] option >> nth=2").inner_text() == "B: <b>large</b>"
    page.keyboard.press("3")
    assert "Queries and keys are not compared" in page.inner_text(".stage")
