"""The live page as people use it: where the picture begins, what stays in its place, what is predicted, and lectures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import headscope
from headscope.lens import Lens
from headscope.lens.predictions import predict, similarity
from tests.browser.live_page import FIRST, SECOND, answered, edit, predicted, tokens, write
from tests.browser.live_server import Server, serving
from tests.browser.waiting import fragment, until
from tests.lens.language_models import language_model, tokenizer_for
from tests.report.samples import SampleRun
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

pytestmark = pytest.mark.xdist_group("browser")

Open = Callable[..., Any]
TEXT = "the cats sat on the unbelievable mat"
OTHER = "two dogs and a cat"
SHORT = "a cat"
SCREENS = {"wide": (1920, 1080), "laptop": (1366, 768), "phone": (390, 844)}
VIEWS = {"head": ".head-drawing", "model": ".model-cells", "matrix": ".heatmap", "neuron": ".key-rows"}


@pytest.fixture(scope="module")
def lenses() -> Iterator[dict[str, Lens]]:
    """One of each kind: no head, a masked-LM head, a next-token head, and an encoder-decoder."""
    heads = {"masked": "bert", "next": "gpt2", "fr-en": "marian"}
    opened = {"bert": headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"), name="bert")}
    opened |= {name: headscope.open(language_model(family), tokenizer_for(family)) for name, family in heads.items()}
    yield opened
    for lens in opened.values():
        lens.close()


@pytest.fixture(scope="module")
def server(lenses: dict[str, Lens], sample_run: SampleRun) -> Iterator[Server]:
    with serving(lenses, sample_run("bert").folder) as started:
        yield started


def top(page: Any, selector: str) -> float:
    return float(page.locator(selector).first.bounding_box()["y"])


# Where things are


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("model", ["bert", "next", "fr-en", "masked"])
def test_the_picture_begins_in_the_first_third(server: Server, open_live: Open, screen: str, model: str) -> None:
    width, height = SCREENS[screen]
    target = f"&target={quote(OTHER)}&attention=decoder%20cross" if model == "fr-en" else ""
    state = f"model={model}&text={quote(' '.join([TEXT] * 2))}{target}"
    page = open_live(server, state, width=width, height=height, phone=screen == "phone")
    answered(page)
    assert top(page, VIEWS["head"]) < height / 3
    page.select_option("select[name=sinks]", "hidden")
    page.wait_for_selector(".hidden-share")
    assert top(page, VIEWS["head"]) < height / 3
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_two_texts_too(server: Server, open_live: Open) -> None:
    state = f"text={quote(TEXT)}&beside=1&besideText={quote(OTHER)}"
    for width, height in SCREENS.values():
        page = open_live(server, state, width=width, height=height, phone=width < 400)
        answered(page, 1, SECOND)
        assert top(page, f"{FIRST} .head-drawing") < height / 3


@pytest.mark.parametrize("screen", SCREENS)
def test_controls_stay_where_they_are(server: Server, open_live: Open, screen: str) -> None:
    """Whatever text, layer, measure or view is chosen, and while a text is typed."""
    width, height = SCREENS[screen]
    page = open_live(server, f"text={quote(OTHER)}", width=width, height=height, phone=screen == "phone")
    answered(page)
    names = ["layer", "measure", "least", "top", "sinks"]
    controls = [f".toolbar [name={name}]" for name in names] + [
        ".tabs",
        ".chip >> nth=0",
        ".head-drawing",
        "button[name=edit]",
    ]

    def places() -> list[tuple[int, int]]:
        boxes = [page.locator(one).bounding_box() for one in controls if page.locator(one).count()]
        return [(round(box["x"]), round(box["y"])) for box in boxes]

    before = places()
    assert len(before) == len(controls)
    edit(page)
    page.fill("textarea[name=text]", "one\ntwo\nthree")
    assert places() == before
    write(page, TEXT)  # which has a word of several tokens: their level can be chosen
    answered(page, 2)
    predicted(page)
    assert page.locator("select[name=level]").count() == 1
    assert places() == before
    page.select_option("select[name=layer]", "2")
    page.select_option("select[name=measure]", "norm")
    page.select_option("select[name=sinks]", "hidden")
    page.wait_for_selector(".hidden-share")
    assert places() == before
    page.select_option("select[name=measure]", "joint_norm")  # one map for all heads: there are no chips
    page.wait_for_selector(".chip", state="detached")
    assert places() == [place for place, one in zip(before, controls, strict=True) if "chip" not in one]
    for view in VIEWS:
        page.click(f"#tab-{view}")
        page.wait_for_selector(f"[data-view={view}] [data-drawn]")
        assert places()[: len(names) + 1] == before[: len(names) + 1], view


def test_a_text_that_was_read_stands_in_a_line(server: Server, open_live: Open) -> None:
    page = open_live(server)
    assert page.is_visible("textarea[name=text]")
    assert page.evaluate("document.activeElement.name") == "text"
    write(page, TEXT)
    answered(page)
    assert page.is_hidden("textarea[name=text]")
    assert page.inner_text(".live-words") == TEXT
    page.keyboard.press("/")
    page.keyboard.type("some words")  # in the place of the old ones
    assert page.input_value("textarea[name=text]") == "some words"
    page.keyboard.press("Escape")
    assert page.is_hidden("textarea[name=text]")
    assert page.input_value("textarea[name=text]") == TEXT
    page.click("button[name=beside]")
    until(page, lambda: page.evaluate("document.activeElement.name") == "beside")
    write(page, OTHER, "beside")
    answered(page, 1, SECOND)
    assert page.locator(".live-words").all_inner_texts() == [TEXT, OTHER]


# What is predicted


def guesses(page: Any, number: int = 0) -> list[str]:
    return [str(one) for one in page.locator(".live-guesses").nth(number).locator(".live-guess").all_inner_texts()]


def shown(share: float) -> str:
    return f"{100 * share:.1f}%" if share < 0.0995 else f"{round(100 * share)}%"


def test_the_next_token_and_reading_on(server: Server, lenses: dict[str, Lens], open_live: Open) -> None:
    page = open_live(server, f"model=next&text={quote(TEXT)}")
    assert predicted(page).startswith("next token")
    (gap,) = predict(lenses["next"], lenses["next"].encoder.batch([TEXT])).gaps
    assert guesses(page) == [f"{guess.token} {shown(guess.probability)}" for guess in gap.guesses]
    chosen = next(guess for guess in gap.guesses if guess.reads)
    page.click(f"button.live-guess:has-text('{chosen.token}')")
    answered(page, 2)
    assert page.input_value("textarea[name=text]") == chosen.reads
    page.go_back()
    until(page, lambda: page.inner_text(".live-words") == TEXT)


def test_masked_words(server: Server, lenses: dict[str, Lens], open_live: Open) -> None:
    page = open_live(server, f"model=masked&text={quote('the cats sat on the mat')}")
    assert "Write [MASK] in the place of a word" in predicted(page)
    page.click("button[name=hide-word]")
    answered(page, 2)
    text = page.input_value("textarea[name=text]")
    assert text == "the [MASK] sat on the mat"  # the longest word
    until(page, lambda: page.locator(".live-guess").count() == 5)
    (gap,) = predict(lenses["masked"], lenses["masked"].encoder.batch([text])).gaps
    assert guesses(page) == [f"{guess.token} {shown(guess.probability)}" for guess in gap.guesses]
    write(page, "the [MASK] sat on the [MASK]")
    until(page, lambda: page.locator(".live-guesses").count() == 2)
    assert page.locator(".live-gap").all_inner_texts() == ["[MASK] 1", "[MASK] 2"]


def test_a_translation_becomes_the_target_by_one_click(server: Server, lenses: dict[str, Lens], open_live: Open) -> None:
    lens = lenses["fr-en"]
    page = open_live(server, f"model=fr-en&text={quote(SHORT)}")
    answered(page)
    assert page.locator("select[name=attention]").count() == 0
    said = predicted(page)
    written = predict(lens, lens.encoder.batch([SHORT])).written  # now that the server's thread is done with the lens
    assert " ".join(written.split()) in " ".join(said.split())
    page.click("button[name=use-target]")
    answered(page, 2)
    assert page.input_value("select[name=attention]") == "decoder cross"
    assert page.input_value("textarea[name=text-target]") == written
    right = lens.read(SHORT, target=written)
    assert tokens(page) == right.query_texts("cross")
    assert "which is the target" in predicted(page)


def test_a_model_that_predicts_no_words_says_how_alike_two_texts_are(
    server: Server, lenses: dict[str, Lens], open_live: Open
) -> None:
    lens = lenses["bert"]
    right = f"{similarity(lens, *(lens.encoder.batch([text]) for text in (TEXT, OTHER))):.2f}"
    page = open_live(server, f"text={quote(TEXT)}")
    assert predicted(page).startswith("bert has no language-model head (it is a BertModel), so it predicts no words.")
    page.click("button[name=beside]")
    write(page, OTHER, "beside")
    answered(page, 1, SECOND)
    for column in (FIRST, SECOND):
        until(page, lambda column=column: f"alike by {right}" in predicted(page, column))
    pair = open_live(server, f"text={quote(TEXT)}&pair={quote(OTHER)}")
    assert f"alike by {right}" in predicted(pair)


def test_a_newer_text_stops_the_writing(server: Server, lenses: dict[str, Lens], open_live: Open) -> None:
    page = open_live(server, "model=fr-en", refused=("ERR_ABORTED",))
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    slow = lenses["fr-en"].model.get_decoder().register_forward_pre_hook(lambda *_: time.sleep(0.2))
    try:
        write(page, "the cat sat on a mat")  # nobody has asked for it yet
        answered(page)
        until(page, lambda: server.queue.waiting == 1)
        write(page, OTHER)
        until(page, lambda: any(url.endswith("/api/predict") for url in failed))
    finally:
        slow.remove()
    answered(page, 2)
    predicted(page)
    until(page, lambda: server.queue.waiting == 0)


# Lectures


@pytest.mark.parametrize("screen", SCREENS)
def test_a_lecture_is_large_and_has_nothing_else(
    server: Server, open_live: Open, screenshot: Callable[..., Path], screen: str
) -> None:
    width, height = SCREENS[screen]
    page = open_live(server, f"text={quote(TEXT)}&keep=q3", width=width, height=height, phone=screen == "phone")
    answered(page)
    row, letters = "[data-token=q3]", "[data-token=q3] bdi"  # rows may stand nearer where less of them fits
    before = [page.locator(one).bounding_box()["height"] for one in (row, letters)]
    page.click("button[name=lecture]")
    page.wait_for_selector(".lecture [data-drawn]")
    after = [page.locator(one).bounding_box()["height"] for one in (row, letters)]
    assert after[0] > before[0]
    assert after[1] > 1.15 * before[1]
    assert page.evaluate("document.fullscreenElement !== null")
    for gone in (".tabs", ".toolbar", ".footer", "select[name=model]", ".live-parts", "button[name=beside]"):
        assert page.is_hidden(gone), gone
    assert top(page, ".head-drawing") < height / 3
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert "lecture=1" in fragment(page)
    screenshot(page, f"live-lecture-{screen}")
    page.keyboard.press("Escape")
    until(page, lambda: page.is_visible(".toolbar"))
    assert page.evaluate("document.fullscreenElement === null")
    assert "keep=q3" in fragment(page)  # another Esc lets it go
    assert "lecture" not in fragment(page)


def test_keys_choose_in_a_lecture(server: Server, open_live: Open) -> None:
    page = open_live(server, f"text={quote(TEXT)}")
    answered(page)
    page.keyboard.press("l")
    page.wait_for_selector(".lecture [data-drawn]")
    page.keyboard.press("]")
    until(page, lambda: "heads of layer 1" in page.inner_text(".chips-label"))
    page.keyboard.press("/")
    page.keyboard.type(OTHER)
    page.keyboard.press("Enter")
    answered(page, 2)
    assert page.locator(".lecture").count() == 1
    page.keyboard.press("l")
    until(page, lambda: page.locator(".lecture").count() == 0)


def test_leaving_the_whole_screen_ends_it(server: Server, open_live: Open) -> None:
    """As browsers do on Esc, without telling the page of the key."""
    page = open_live(server, f"text={quote(TEXT)}")
    answered(page)
    page.click("button[name=lecture]")
    until(page, lambda: page.evaluate("document.fullscreenElement !== null"))
    page.evaluate("document.exitFullscreen()")
    until(page, lambda: page.locator(".lecture").count() == 0)


def test_a_browser_that_gives_no_whole_screen(server: Server, open_live: Open) -> None:
    page = open_live(server, f"text={quote(TEXT)}")
    answered(page)
    page.evaluate("Element.prototype.requestFullscreen = undefined")
    page.click("button[name=lecture]")
    page.wait_for_selector(".lecture [data-drawn]")
    page.keyboard.press("Escape")
    until(page, lambda: page.locator(".lecture").count() == 0)


def test_the_pointer_finds_its_cell_in_a_lecture(server: Server, lenses: dict[str, Lens], open_live: Open) -> None:
    """Pixels of the window are larger there than the map's own."""
    page = open_live(server, f"text={quote(TEXT)}&view=matrix&sinks=shown&lecture=1", width=1920, height=1080)
    page.wait_for_selector(".lecture .matrix-maps[data-drawn]")
    assert page.evaluate("document.querySelector('.page').currentCSSZoom") > 1.5
    count = len(lenses["bert"].read(TEXT).tokens)
    box = page.locator(".matrix-scores").first.bounding_box()
    for row, column in ((0, 0), (4, 7), (count - 1, count - 1)):
        x, y = ((place + 0.5) / count for place in (column, row))
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
        until(page, lambda row=row, column=column: reading_of(page) == (row, column))
    pixels = "(() => { const c = document.querySelector('.matrix-scores'); return c.width / c.clientWidth })()"
    zoomed = "devicePixelRatio * document.querySelector('.page').currentCSSZoom"
    assert page.evaluate(pixels) == pytest.approx(page.evaluate(zoomed), rel=0.02)  # as sharp as without


def reading_of(page: Any) -> tuple[int, int]:
    found = page.locator(".matrix-reading").first
    return tuple(int(found.get_attribute(f"data-{name}") or -1) for name in ("query", "key"))  # type: ignore[return-value]
