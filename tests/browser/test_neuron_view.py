"""The neuron view in a real browser: q, k, their product, the dot product, the weight and the norm are numpy's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import headscope
from headscope import matrix_view, neuron_view
from headscope.views import Attention, Content, Neurons, Side, State, View
from tests.browser.map_colours import DARK_GROUND, diverging
from tests.browser.pixels import canvas_pixels
from tests.browser.waiting import fragment, redrawn, until

pytestmark = pytest.mark.xdist_group("browser")

Open = Callable[..., Any]
Floats = NDArray[np.float32]
ROWS = ".key-rows"
HEADS, SIZE, SCALING = 4, 16, 0.25


def content(
    tokens: Sequence[str],
    *,
    groups: int = HEADS,
    causal: bool = False,
    special: Sequence[bool] | None = None,
    why: str = "",
    spread: float = 1.5,
) -> Content:
    """Random queries and keys, and the weights that they make: `groups` < 4 heads share keys."""
    rng, count = np.random.default_rng(7), len(tokens)
    queries = (spread * rng.normal(size=(HEADS, count, SIZE))).astype(np.float32)
    keys = (spread * rng.normal(size=(groups, count, SIZE))).astype(np.float32)
    dots = np.einsum("hqd,hkd->hqk", queries, np.repeat(keys, HEADS // groups, 0)).astype(np.float64)
    logits = SCALING * dots + (np.triu(np.full((count, count), -np.inf), 1) if causal else 0)
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    weights = (powers / powers.sum(-1, keepdims=True)).astype(np.float32)
    value_norm = rng.uniform(0.2, 3, size=(HEADS, count)).astype(np.float32)
    attention = Attention(
        "decoder" if causal else "encoder",
        "self",
        0,
        list(range(HEADS)),
        "source",
        "source",
        {"weight": weights, "norm": weights * value_norm[:, None]},
        value_norm,
        Neurons(queries, keys, SCALING, not why, why),
    )
    return Content("a text", {"source": Side.plain(tokens, special)}, [attention])


def page_of(content: Content, path: Path, *, exact: bool = True, **state: Any) -> Path:
    return View(content, State(view="neuron", **state), exact=exact).save(path / "x.html")


def drawn(page: Any) -> None:
    page.wait_for_selector(f"{ROWS}[data-drawn]")


def column(page: Any, name: str) -> NDArray[np.float64]:
    """A number of every row in the page, in order."""
    rows = page.locator(".key-row[data-key]").all()
    return np.array([float(row.get_attribute(f"data-{name}")) for row in rows])


def strip(page: Any, selector: str) -> NDArray[np.int64]:
    """The colours of a vector: (neuron, 3)."""
    return canvas_pixels(page, f"{selector} canvas")[0]


def close(found: NDArray[np.int64], right: NDArray[np.float64]) -> bool:
    """One of 256 colours, neighbours of which are at most 4 apart."""
    return bool(np.abs(found - right).max() <= 4)


def test_all_numbers_are_those_of_numpy(open_file: Open, tmp_path: Path) -> None:
    text = content([f"t{place}" for place in range(9)])
    [attention] = text.attentions
    page = open_file(page_of(text, tmp_path, heads=(2,), keep=("q3",)))
    drawn(page)
    neurons = attention.neurons
    assert neurons is not None
    products = neurons.queries[2, 3] * neurons.keys[2]
    assert column(page, "dot") == pytest.approx(products.sum(-1), rel=1e-4, abs=1e-5)
    assert column(page, "scaled") == pytest.approx(SCALING * products.sum(-1), rel=1e-4, abs=1e-5)
    assert column(page, "weight") == pytest.approx(attention.scores["weight"][2, 3], rel=1e-6)
    assert column(page, "norm") == pytest.approx(attention.scores["norm"][2, 3], rel=1e-5)
    assert attention.value_norm is not None
    assert column(page, "value-norm") == pytest.approx(attention.value_norm[2], rel=1e-6)
    softmax = np.exp(column(page, "scaled"))
    assert column(page, "weight") == pytest.approx(softmax / softmax.sum(), rel=1e-3)  # the page explains itself

    query, keys = neurons.queries[2, 3], neurons.keys[2]
    assert close(strip(page, "[data-strip=query]"), diverging(query / np.abs(query).max()))
    for key in (0, 5):
        row = f".key-row[data-key='{key}']"
        assert close(strip(page, f"{row} [data-strip=key]"), diverging(keys[key] / np.abs(keys).max()))
        assert close(strip(page, f"{row} [data-strip=product]"), diverging(products[key] / np.abs(products).max()))
    bars = [bar.bounding_box()["width"] for bar in page.locator("[data-bar=weight] i").all()]
    weight = attention.scores["weight"][2, 3]
    assert np.array(bars) / max(bars) == pytest.approx(weight / weight.max(), abs=0.03)


def test_the_neuron_under_the_pointer(open_file: Open, screenshot: Callable[..., Path], tmp_path: Path) -> None:
    text = content(["the", "cat", "sat", "down"])
    page = open_file(page_of(text, tmp_path, keep=("q1",)))
    drawn(page)
    neurons = text.attentions[0].neurons
    assert neurons is not None
    for name in ("key", "product"):
        box = page.locator(f".key-row[data-key='2'] [data-strip={name}]").bounding_box()
        page.mouse.move(box["x"] + 5.5 / SIZE * box["width"], box["y"] + 8)
        said = page.wait_for_selector(".neuron-reading[data-neuron='5'][data-key='2']")
        assert float(said.get_attribute("data-q")) == pytest.approx(neurons.queries[0, 1, 5], rel=1e-6)
        assert float(said.get_attribute("data-k")) == pytest.approx(neurons.keys[0, 2, 5], rel=1e-6)
        product = float(neurons.queries[0, 1, 5] * neurons.keys[0, 2, 5])
        assert float(said.get_attribute("data-product")) == pytest.approx(product, rel=1e-5)
    assert said.inner_text().startswith("cat → sat")
    screenshot(page, "neuron-hover")


def test_bytes_are_near(open_file: Open, tmp_path: Path) -> None:
    text = content([f"t{place}" for place in range(9)])
    page = open_file(page_of(text, tmp_path, exact=False, keep=("q3",)))
    drawn(page)
    neurons = text.attentions[0].neurons
    assert neurons is not None
    query, keys = neurons.queries[0, 3].astype(np.float64), neurons.keys[0].astype(np.float64)
    # No number of a vector is off by more than a byte's step; the last positive level is 127 of 127.5.
    q_off, k_off = np.abs(neurons.queries[0]).max() / 127.5, np.abs(keys).max() / 127.5
    allowed = np.abs(query).sum() * k_off + np.abs(keys).sum(-1) * q_off + SIZE * q_off * k_off
    assert (np.abs(column(page, "dot") - keys @ query) <= allowed).all()
    weight = text.attentions[0].scores["weight"][0]
    assert np.abs(column(page, "weight") - weight[3]).max() <= weight.max() / 255


def test_click_hover_and_arrow_keys_choose_the_query(open_file: Open, tmp_path: Path) -> None:
    text = content(["the", "cat", "sat", "down"])
    weight = text.attentions[0].scores["weight"][0]
    path = page_of(text, tmp_path)
    page = open_file(path)
    drawn(page)
    assert column(page, "weight") == pytest.approx(weight[3], rel=1e-6)  # the last, until one is chosen
    redrawn(page, ROWS, lambda: page.hover("[data-query='0']"))
    assert column(page, "weight") == pytest.approx(weight[0], rel=1e-6)
    redrawn(page, ROWS, lambda: page.mouse.move(2, 2))
    assert column(page, "weight") == pytest.approx(weight[3], rel=1e-6)
    page.click("[data-query='1']")
    until(page, lambda: fragment(page) == "view=neuron&keep=q1")
    page.mouse.move(2, 2)
    redrawn(page, ROWS, lambda: page.keyboard.press("ArrowRight"))
    assert fragment(page) == "view=neuron&keep=q2"
    assert column(page, "weight") == pytest.approx(weight[2], rel=1e-6)
    redrawn(page, ROWS, lambda: page.select_option("select[name=head]", "3"))
    assert column(page, "weight") == pytest.approx(text.attentions[0].scores["weight"][3, 2], rel=1e-6)
    again = open_file(path, fragment(page))
    drawn(again)
    assert column(again, "weight") == pytest.approx(text.attentions[0].scores["weight"][3, 2], rel=1e-6)


def test_keys_walk_through_rows_and_neurons(open_file: Open, tmp_path: Path) -> None:
    page = open_file(page_of(content(["the", "cat", "sat", "down"]), tmp_path))
    drawn(page)
    page.focus(ROWS)
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"):  # the first of each shows where it is
        page.keyboard.press(key)
    page.wait_for_selector(".neuron-reading[data-key='1'][data-neuron='2']")
    page.keyboard.press("Enter")
    until(page, lambda: fragment(page) == "view=neuron&keep=k1")
    assert page.get_attribute(".key-row[data-key='1']", "data-kept") == "true"
    page.keyboard.press("Escape")
    until(page, lambda: fragment(page) == "view=neuron")


@pytest.mark.parametrize("exact", [True, False])
def test_keys_that_cannot_be_seen_are_faint_and_those_with_small_weights_are_not(
    open_file: Open, tmp_path: Path, exact: bool, screenshot: Callable[..., Path]
) -> None:
    text = content([f"t{place}" for place in range(12)], causal=True, groups=2, spread=2.5)
    weight = text.attentions[0].scores["weight"][1, 7]
    assert (weight[:8] < weight.max() / 600).any()  # a byte loses some
    page = open_file(page_of(text, tmp_path, exact=exact, heads=(1,), keep=("q7",), sinks="shown"))
    drawn(page)
    unseen = [row.get_attribute("data-unseen") == "true" for row in page.locator(".key-row[data-key]").all()]
    assert unseen == [False] * 8 + [True] * 4
    if not exact:
        lost = int(weight[:8].argmin())
        assert page.inner_text(f".key-row[data-key='{lost}'] [data-bar=weight] .neuron-value").startswith("<0.00")
        screenshot(page, "neuron-causal")


def test_heads_that_share_keys(open_file: Open, tmp_path: Path) -> None:
    text = content(["a", "b", "c"], groups=2)
    neurons = text.attentions[0].neurons
    assert neurons is not None
    page = open_file(page_of(text, tmp_path, heads=(3,), keep=("q0",)))
    drawn(page)
    assert column(page, "dot") == pytest.approx(neurons.keys[1] @ neurons.queries[3, 0], rel=1e-4, abs=1e-5)
    assert "Heads 0.2, 0.3 share their keys" in page.inner_text(".neuron-choices")


def test_what_stands_between_products_and_weights_is_said(open_file: Open, tmp_path: Path) -> None:
    page = open_file(page_of(content(["a", "b"]), tmp_path))
    assert "The weights are softmax(0.25 q · k)" in page.inner_text(".neuron-choices")
    inexact = page_of(content(["a", "b"], why="a position bias is added before the softmax"), tmp_path)
    page = open_file(inexact)
    assert "not softmax(0.25 q · k) alone: a position bias is added" in page.inner_text(".neuron-choices")


def test_kept_words_of_another_page_are_no_pieces_here(open_file: Open, tmp_path: Path) -> None:
    page = open_file(page_of(content(["a", "b", "c"]), tmp_path / "x.html"), "view=neuron&level=word&keep=q9,k8,k1")
    drawn(page)
    page.keyboard.press("w")  # there are no words in this view
    redrawn(page, ROWS, lambda: page.click("[data-query='0']"))
    assert fragment(page) == "view=neuron&keep=q0,k1"


def test_a_page_without_neurons_says_how_to_get_them(open_file: Open, tmp_path: Path) -> None:
    page = open_file(matrix_view(tokens=["a", "b"], scores=np.eye(2), layer=0).save(tmp_path / "x.html"), "view=neuron")
    page.wait_for_selector("text=neuron_view(reading)")


def test_hidden_special_tokens_and_the_largest_few(open_file: Open, tmp_path: Path) -> None:
    special = [True, False, False, False, False, True]
    text = content(["[CLS]", "a", "b", "c", "d", "[SEP]"], special=special)
    weight = text.attentions[0].scores["weight"][0, 2]
    path = page_of(text, tmp_path, keep=("q2",), sinks="hidden")
    page = open_file(path)
    drawn(page)
    assert column(page, "key").tolist() == [1, 2, 3, 4]
    assert page.inner_text(".hidden-share") == f"{100 * weight[[0, 5]].sum():.0f}% hidden"
    assert page.locator("[data-query]").all_inner_texts() == ["a", "b", "c", "d"]
    redrawn(page, ROWS, lambda: page.goto(f"{path.as_uri()}#view=neuron&keep=q2&top=2"))
    assert column(page, "key").tolist() == sorted(np.argsort(-weight)[:2].tolist())
    norm = text.attentions[0].scores["norm"][0, 2]
    redrawn(page, ROWS, lambda: page.goto(f"{path.as_uri()}#view=neuron&keep=q2&least=0.3&measure=norm"))
    assert column(page, "key").tolist() == np.flatnonzero(norm >= 0.3 * norm.max()).tolist()


def test_a_long_text_keeps_only_rows_in_sight(open_file: Open, screenshot: Callable[..., Path], tmp_path: Path) -> None:
    text = content([f"token{place}" for place in range(512)])
    page = open_file(page_of(text, tmp_path, exact=False, keep=("q500",)))
    drawn(page)
    assert page.evaluate("performance.getEntriesByName('headscope:drawn')[0].startTime") < 2000
    assert 10 < page.locator(".key-row[data-key]").count() < 60
    screenshot(page, "neuron-512")
    redrawn(page, ROWS, lambda: page.evaluate("document.querySelector('.key-rows').scrollTop = 1e6"))
    last = page.locator(".key-row[data-key='511']")
    assert last.is_visible()
    assert float(last.get_attribute("data-weight")) == pytest.approx(
        text.attentions[0].scores["weight"][0, 500, 511], abs=1 / 255
    )


def test_tokens_are_text_and_a_dark_page_is_dark(open_file: Open, screenshot: Callable[..., Path], tmp_path: Path) -> None:
    tokens = ["<script>alert(1)</script>", "&amp;", "\"'`", "👩‍🚀", "سلام", "שלום", "a\x00b", "\n"]
    page = open_file(page_of(content(tokens), tmp_path, keep=("q0",)), dark=True)
    drawn(page)
    shown = ["<script>alert(1)</script>", "&amp;", "\"'`", "👩‍🚀", "سلام", "שלום", "a␀b", "⏎"]
    assert page.locator(".key-row[data-key] bdi").all_text_contents() == shown
    assert page.locator("[data-query] bdi").all_text_contents() == shown
    dark = strip(page, "[data-strip=query]")
    smallest = np.abs(np.random.default_rng(7).normal(size=SIZE)).argmin()  # of the first query
    assert np.abs(dark[smallest] - np.array(DARK_GROUND)).max() < 40
    screenshot(page, "neuron-dark")
    redrawn(page, ROWS, lambda: page.click("[name=theme]"))
    assert strip(page, "[data-strip=query]")[smallest].min() > 200


def test_a_phone_shows_all_of_it_without_scrolling_sideways(
    open_file: Open, screenshot: Callable[..., Path], tmp_path: Path
) -> None:
    page = open_file(page_of(content([f"token{place}" for place in range(30)]), tmp_path), width=390, height=800, phone=True)
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    row = page.locator(".key-row[data-key='0']").bounding_box()
    for name in ("[data-strip=key]", "[data-strip=product]", "[data-bar=weight]", "[data-bar=norm]"):
        box = page.locator(f".key-row[data-key='0'] {name}").bounding_box()
        assert box["width"] > 30
        assert row["y"] <= box["y"]
        assert box["y"] + box["height"] <= row["y"] + row["height"]
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    screenshot(page, "neuron-phone")


@pytest.mark.real
def test_a_real_model(minilm: Path, open_file: Open, screenshot: Callable[..., Path], tmp_path: Path) -> None:
    reading = headscope.open(str(minilm)).read("The heavy box fell on the old cat.")
    page = open_file(neuron_view(reading, layer=3, heads=[1], keep=["q2"], exact=True).save(tmp_path / "x.html"))
    drawn(page)
    neurons = reading.neurons(3)
    assert column(page, "dot") == pytest.approx(neurons.dots(1, 2).numpy(), rel=1e-4, abs=1e-4)
    assert column(page, "weight") == pytest.approx(reading.scores("weight")[3, 1, 2].numpy(), rel=1e-5)
    assert column(page, "norm") == pytest.approx(reading.scores("norm")[3, 1, 2].numpy(), rel=1e-4)
    assert "alone" not in page.inner_text(".neuron-choices")
    screenshot(page, "neuron-real")
    redrawn(page, ROWS, lambda: page.select_option("select[name=measure]", "effective"))
    assert column(page, "score") == pytest.approx(reading.scores("effective")[3, 1, 2].numpy(), abs=1e-5)


@pytest.mark.real
def test_a_kept_word_is_its_first_piece(minilm: Path, open_file: Open, tmp_path: Path) -> None:
    reading = headscope.open(str(minilm)).read("An unbelievably old cat.")
    path = neuron_view(reading, layer=3, level="word", keep=["q2", "k3"], exact=True).save(tmp_path / "x.html")
    page = open_file(path)
    drawn(page)
    weight = reading.scores("weight")[3, 0].numpy()
    assert column(page, "weight") == pytest.approx(weight[2], rel=1e-5)
    old = reading.tokens.index("old")
    assert page.get_attribute(f".key-row[data-key='{old}']", "data-kept") == "true"
    redrawn(page, ROWS, lambda: page.click("[data-query='4']"))
    assert fragment(page) == f"view=neuron&layer=3&keep=q4,k{old}"  # in pieces now
