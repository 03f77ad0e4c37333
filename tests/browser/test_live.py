"""The live page in a real browser, before a real server with a real model: what is typed is drawn, and the numbers hold."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import torch

import headscope
from headscope.demo.text import text
from headscope.heads.exemplars import add_exemplars
from headscope.lens import Lens
from headscope.report.needed_tables import report_statistics
from headscope.server import Settings
from headscope.server.serving import listen, make_server
from headscope.study import study
from headscope.text import Corpus, Document
from tests.browser.live_page import FIRST, SECOND, answered, answers, edit, is_fresh, predicted, tokens, write
from tests.browser.live_server import Server, serving
from tests.browser.waiting import fragment, until
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.real]

Open = Callable[..., Any]
TEXT = "The cat that chased the dogs was hungry, so it went back to the kitchen."
OTHER = "The dogs that chased the cat were hungry."
TWENTY = "The old captain who had sailed around the world told his children a strange story about an island without sleep."
LONG = " ".join([TWENTY] * 60)
HEAD = 3
LAYER = 2
BUSY = "status of 503"


@pytest.fixture(scope="module")
def lens(minilm: Path) -> Iterator[Lens]:
    with headscope.open(str(minilm)) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(lens: Lens) -> Iterator[Server]:
    with serving({"minilm": lens}) as started:
        yield started


def said_scores(page: Any, column: str = FIRST) -> dict[int, float]:
    """By the token attended to: the numbers in the table of what a kept token attends to."""
    rows = page.locator(f"{column} .targets[data-direction=attended] tbody tr").all()
    return {int(row.get_attribute("data-target")): float(row.locator("td").last.get_attribute("data-score")) for row in rows}


def check_scores(found: dict[int, float], right: torch.Tensor) -> None:
    """A byte a score: none is off by more than half a percent of the largest of its head."""
    assert len(found) >= 5
    for key, score in found.items():
        assert score == pytest.approx(float(right[key]), abs=0.005 * float(right.max()) + 1e-4)


def kept(layer: int, head: int, query: int, measure: str = "weight") -> str:
    return f"layer={layer}&heads={head}&keep=q{query}&measure={measure}"


def test_a_typed_text_is_drawn_and_its_numbers_are_pythons(
    server: Server, lens: Lens, open_live: Open, screenshot: Callable[..., Path]
) -> None:
    page = open_live(server)
    assert page.locator(".live-example").count() == 4
    screenshot(page, "live-empty")
    page.keyboard.press("Escape")  # the box has the focus, and lets it go
    page.keyboard.press("/")
    page.keyboard.type(TEXT)
    page.keyboard.press("Enter")
    answered(page)
    reading = lens.read(TEXT)
    assert tokens(page) == list(reading.tokens)
    screenshot(page, "live")
    page.select_option("select[name=layer]", str(LAYER))
    page.click("button:has-text('none')")
    page.click(f".chip >> nth={HEAD}")
    page.click("[data-token=q5]")
    page.mouse.move(1, 1)
    page.wait_for_selector(".targets")
    check_scores(said_scores(page), reading.scores("weight")[LAYER][HEAD, 5])
    assert fragment(page) == f"text={quote(TEXT)}&layer={LAYER}&heads={HEAD}&keep=q5"
    page.click("button[name=keys]")
    assert page.locator(".keys dt").first.inner_text() == "/"


def test_a_link_is_the_same_page_again(server: Server, open_live: Open) -> None:
    page = open_live(server)
    write(page, TEXT)
    answered(page)
    page.click("#tab-matrix")
    page.select_option("select[name=layer]", "4")
    page.wait_for_selector(".matrix-maps[data-drawn]")
    page.click("button[name=copy]")
    page.wait_for_selector("button[name=copy]:has-text('copied')")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{server.address}#text={quote(TEXT)}&view=matrix&")
    again = open_live(server, link.partition("#")[2])
    again.wait_for_selector(".matrix-maps[data-drawn]")
    assert again.input_value("textarea[name=text]") == TEXT
    assert again.locator(".matrix-maps").inner_text() == page.locator(".matrix-maps").inner_text()
    again.reload()
    again.wait_for_selector(".matrix-maps[data-drawn]")
    assert again.input_value("select[name=layer]") == "4"


def test_back_is_the_text_before(server: Server, open_live: Open) -> None:
    page = open_live(server)
    write(page, TEXT)
    answered(page)
    write(page, OTHER)
    answered(page, 2)
    page.select_option("select[name=layer]", "3")
    page.go_back()
    until(page, lambda: page.input_value("select[name=layer]") == "0")
    page.go_back()
    answered(page, 3)
    assert (page.input_value("textarea[name=text]"), tokens(page)[1:3]) == (TEXT, ["the", "cat"])
    page.go_back()
    page.wait_for_selector(".live-examples")
    for _ in range(3):
        page.go_forward()
    until(page, lambda: tokens(page)[1:3] == ["the", "dogs"])
    assert page.input_value("select[name=layer]") == "3"


def test_measures_and_neurons_come_when_they_are_chosen(server: Server, lens: Lens, open_live: Open) -> None:
    page = open_live(server, f"text={quote(TEXT)}&{kept(LAYER, HEAD, 5)}")
    answered(page)
    asked: list[Any] = []
    page.on("request", lambda request: asked.append(request.post_data_json) if "/api/read" in request.url else None)
    page.select_option("select[name=measure]", "norm")  # has come with the weights
    page.wait_for_timeout(100)
    assert asked == []
    page.select_option("select[name=measure]", "effective")
    answered(page, 2)
    until(page, lambda: page.input_value("select[name=measure]") == "effective")
    assert asked[0]["measures"] == ["weight", "norm", "joint_norm", "effective"]
    check_scores(said_scores(page), lens.read(TEXT).scores("effective")[LAYER][HEAD, 5])
    page.click("#tab-neuron")
    answered(page, 3)
    page.wait_for_selector(".key-rows [data-key]")
    assert asked[1]["neurons"] is True
    assert "effective" in asked[1]["measures"]
    page.click("#tab-head")
    page.click("#tab-neuron")
    page.wait_for_timeout(100)
    assert len(asked) == 2


def test_two_texts_side_by_side_share_their_choices(
    server: Server, lens: Lens, open_live: Open, screenshot: Callable[..., Path]
) -> None:
    page = open_live(server)
    write(page, TEXT)
    answered(page)
    page.click("button[name=beside]")
    write(page, OTHER, "beside")
    answered(page, 1, SECOND)
    page.select_option("select[name=layer]", str(LAYER))
    page.click("button.chip >> nth=0")
    first, second = (page.locator(f"{column} .head-drawing").bounding_box() for column in (FIRST, SECOND))
    assert first["y"] == pytest.approx(second["y"], abs=2)
    assert second["x"] > first["x"] + first["width"]
    screenshot(page, "live-compare")
    assert page.locator(".tabs").count() == 1
    pressed = ".chip[aria-pressed=true]"
    assert page.locator(f"{FIRST} {pressed}").count() == page.locator(f"{SECOND} {pressed}").count() > 0
    alone = open_live(server, f"{fragment(page)}&heads={HEAD}&besideKeep=q2&keep=q5")
    answered(alone, 1, SECOND)
    alone.wait_for_selector(f"{SECOND} .targets")
    check_scores(said_scores(alone, SECOND), lens.read(OTHER).scores("weight")[LAYER][HEAD, 2])
    check_scores(said_scores(alone, FIRST), lens.read(TEXT).scores("weight")[LAYER][HEAD, 5])
    alone.keyboard.press("Escape")
    until(alone, lambda: "eep=" not in fragment(alone))


def test_a_pair_is_read_as_one_input(server: Server, lens: Lens, open_live: Open) -> None:
    page = open_live(server)
    page.click("button[name=text-wants-pair]")
    page.fill("textarea[name=text-pair]", OTHER)
    write(page, TEXT)
    answered(page)
    assert tokens(page) == list(lens.read(TEXT, pair=OTHER).tokens)
    assert page.locator("select[name=pairs]").count() == 1
    edit(page)
    page.click("button[name=text-wants-pair]")
    page.press("textarea[name=text]", "Enter")
    answered(page, 2)
    assert page.locator("select[name=pairs]").count() == 0


@pytest.mark.slow
def test_a_text_that_is_too_long_says_the_limit_and_can_be_cut_off(
    server: Server, open_live: Open, screenshot: Callable[..., Path]
) -> None:
    page = open_live(server, f"text={quote(TEXT)}", refused=("status of 422",))
    answered(page)
    write(page, LONG)
    problem = page.wait_for_selector(".live-notice.problem")
    assert "512" in problem.inner_text()
    assert not is_fresh(page)  # the picture is of the text before
    assert tokens(page)[2] == "cat"
    screenshot(page, "live-too-long")
    page.click("button[name=truncate]")
    answered(page, 2, seconds=60)
    assert len(tokens(page)) == 512
    assert "Only the beginning was read" in page.inner_text(".live-notice")
    page.hover("[data-token=q7]")
    page.wait_for_selector(".targets")
    screenshot(page, "live-512")
    for view in ("model", "matrix"):
        page.click(f"#tab-{view}")
        page.wait_for_selector(f"[data-view={view}] [data-drawn]")


def test_a_newer_text_cancels_the_older(server: Server, open_live: Open) -> None:
    page = open_live(server, "truncate=1", refused=("ERR_ABORTED",))
    cancelled: list[str] = []
    page.on("requestfailed", lambda request: cancelled.append(request.failure))
    write(page, f"Once more: {LONG}")
    until(page, lambda: server.queue.waiting == 1)
    write(page, OTHER)
    answered(page)
    assert cancelled == ["net::ERR_ABORTED"]
    assert tokens(page)[1:3] == ["the", "dogs"]
    assert answers(page) == 1
    until(page, lambda: server.queue.waiting == 0)


@pytest.mark.slow
def test_a_busy_server_is_asked_again(lens: Lens, open_live: Open) -> None:
    with serving({"minilm": lens}, max_waiting=0) as server:
        page = open_live(server, refused=(BUSY,))
        long = {"model": "minilm", "text": LONG, "truncate": True}
        first = threading.Thread(
            target=httpx.post, args=(f"{server.address}api/read",), kwargs={"json": long, "timeout": 90}
        )
        first.start()
        until(page, lambda: server.queue.waiting == 1)
        write(page, OTHER)
        until(page, lambda: "busy" in page.inner_text(".live-notice"))
        answered(page, seconds=90)
        assert tokens(page)[1:3] == ["the", "dogs"]
        first.join()


def test_a_server_that_is_gone_is_said_and_tried_again(lens: Lens, open_live: Open) -> None:
    server = Server({"minilm": lens})
    page = open_live(server, f"text={quote(TEXT)}", refused=("ERR_CONNECTION_REFUSED", "status of 503"))
    answered(page)
    port = int(server.address.rsplit(":", 1)[1].strip("/"))
    server.stop()
    write(page, OTHER)
    problem = page.wait_for_selector(".live-notice.problem")
    assert "headscope serve" in problem.inner_text()
    assert tokens(page)[2] == "cat"
    again = make_server({"minilm": lens}, None, Settings(port=port))
    listening = listen("127.0.0.1", port)
    thread = threading.Thread(target=again.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        until(page, lambda: again.started)
        page.click("button[name=again]")
        answered(page, 2)
        assert tokens(page)[1:3] == ["the", "dogs"]
    finally:
        again.should_exit = True
        thread.join(20)
        listening.close()


def test_whatever_is_typed_stays_text(server: Server, open_live: Open) -> None:
    page = open_live(server)
    hostile = '<script>alert(1)</script> & "quotes" <img src=x onerror=alert(2)> 😀 שלום مرحبا'
    write(page, hostile)
    answered(page)
    assert page.input_value("textarea[name=text]") == hostile
    assert "<" in tokens(page)
    assert page.locator("#app script, #app img").count() == 0
    page.reload()
    answered(page)
    assert page.input_value("textarea[name=text]") == hostile


def test_dark_from_the_first_moment_on(server: Server, open_live: Open, screenshot: Callable[..., Path]) -> None:
    page = open_live(server)
    page.click("button[name=theme]")
    assert page.get_attribute("html", "data-theme") == "dark"
    write(page, TEXT)
    answered(page)
    assert page.locator("button[name=theme]").count() == 1  # that of the picture
    assert fragment(page) == f"text={quote(TEXT)}&theme=dark"
    screenshot(page, "live-dark")


def test_new_lines_and_empty_texts(server: Server, open_live: Open) -> None:
    page = open_live(server)
    page.focus("textarea[name=text]")
    page.keyboard.press("Enter")
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    assert page.input_value("textarea[name=text]") == "one\ntwo"
    assert answers(page) == 0
    assert fragment(page) == ""
    page.keyboard.press("Enter")
    answered(page)
    assert tokens(page) == ["[CLS]", "one", "two", "[SEP]"]


def test_from_enter_to_the_picture(server: Server, open_live: Open, capsys: pytest.CaptureFixture[str]) -> None:
    page = open_live(server)
    write(page, TEXT)
    answered(page)
    edit(page)
    page.fill("textarea[name=text]", TWENTY)
    page.evaluate(
        """() => {
            const root = document.querySelector(".head-view");
            window.times = {};
            addEventListener("keydown", () => { window.times.entered = performance.now(); }, { capture: true, once: true });
            new MutationObserver(() => { window.times.drawn ??= performance.now(); })
                .observe(root, { attributes: true, attributeFilter: ["data-drawn"] });
        }"""
    )
    page.press("textarea[name=text]", "Enter")
    until(page, lambda: page.evaluate("window.times.drawn !== undefined"), 20)
    answered(page, 2)
    assert tokens(page)[3] == "captain"
    entered, drawn = page.evaluate("[window.times.entered, window.times.drawn]")
    came = page.evaluate("performance.getEntriesByName('headscope:answered').at(-1).startTime")
    assert entered < came < drawn
    with capsys.disabled():
        print(f"\nEnter to picture, {len(TWENTY.split())} words, MiniLM: {drawn - entered:.0f} ms, of which", end=" ")
        print(f"the server {came - entered:.0f} ms")


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_does_not_scroll_sideways(
    server: Server, open_live: Open, screenshot: Callable[..., Path], dark: bool
) -> None:
    state = f"text={quote(TEXT)}&beside=1&besideText={quote(OTHER)}"
    page = open_live(server, state, width=390, height=844, phone=True, dark=dark)
    answered(page)
    answered(page, 1, SECOND)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(SECOND).locator("textarea").count() == 1
    above, below = (page.locator(f"{column} .head-drawing").bounding_box() for column in (FIRST, SECOND))
    assert below["y"] > above["y"] + above["height"]
    screenshot(page, f"live-phone{'-dark' if dark else ''}")


@pytest.mark.slow
def test_an_encoder_decoder_has_source_and_target(opus: Path, lens: Lens, open_live: Open) -> None:
    with headscope.open(str(opus)) as translator, serving({"minilm": lens, "fr-en": translator}) as server:
        page = open_live(server)
        page.select_option("select[name=model]", "fr-en")
        assert "6 + 6 layers (encoder, decoder), 144 heads" in page.inner_text(".live-model")
        page.click(".live-example >> nth=0")
        answered(page, seconds=60)
        source, target = page.input_value("textarea[name=text]"), page.input_value("textarea[name=text-target]")
        assert (source[:2], target[:4]) == ("Je", "I do")
        reading = translator.read(source, target=target)
        alone = open_live(server, f"{fragment(page)}&attention=decoder%20cross&{kept(3, 1, 2)}")
        answered(alone, seconds=60)
        alone.wait_for_selector(".targets")
        check_scores(said_scores(alone), reading.scores("weight", kind="cross")[3][1, 2])
        edit(page)
        page.fill("textarea[name=text-target]", "")
        page.press("textarea[name=text-target]", "Enter")
        answered(page, 2)
        assert page.locator("select[name=attention]").count() == 0
        predicted(page)  # before the server is stopped
        predicted(alone)


@pytest.fixture(scope="module")
def run(lens: Lens, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of a few paragraphs in a file, which the server can find again."""
    folder = tmp_path_factory.mktemp("live")
    paragraphs = [" ".join(paragraph.split()) for paragraph in text().split("\n\n")[:16:2]]
    (folder / "corpus.txt").write_text("\n".join(paragraphs))
    study(lens, Corpus.of(folder / "corpus.txt"), report_statistics(lens), out=folder / "run", truncate=True)
    return folder / "run"


@pytest.mark.slow
def test_a_pair_far_down_a_text_is_in_sight(lens: Lens, server: Server, open_live: Open) -> None:
    """As a link, or a text that excites a head, opens: in every view that scrolls."""
    state = f"text={quote(' '.join([TWENTY] * 8))}&layer=2&heads=8&keep=q150,k140"
    page = open_live(server, state)
    answered(page)
    box = page.locator(".head-drawing").bounding_box()
    for token in ("q150", "k140"):
        at = page.locator(f"[data-token={token}]").bounding_box()
        assert box["y"] <= at["y"] <= box["y"] + box["height"] - at["height"], token
    page = open_live(server, f"{state}&view=neuron")
    answered(page)
    page.wait_for_selector("[data-key='140']")
    box, at = (page.locator(one).bounding_box() for one in (".key-rows", "[data-key='140']"))
    assert box["y"] <= at["y"] <= box["y"] + box["height"] - at["height"]


def test_a_run_of_another_model_has_its_own_name(lens: Lens, open_live: Open, tmp_path: Path) -> None:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"), name="another/model") as another:
        counted = study(another, ["the cat sat", "two dogs"], ["entropy", "exemplars"], out=tmp_path / "run")
        add_exemplars(another, counted, [Document("the cat sat"), Document("two dogs")])
    with serving({"minilm": lens}, tmp_path / "run") as server:
        page = open_live(server, f"part=heads&head=1.2&text={quote(TEXT)}")
        page.wait_for_selector(".exemplars li")
        said = page.inner_text(".live-model")
        assert said.startswith("another/model\nrun run: 12 heads in 3 layers; this model is not served here"), said
        assert "minilm" not in page.inner_text("main > header")
        assert "Of another/model, by the run run. This model is not served here" in page.inner_text(".card-panel")
        assert page.locator(".live-exemplar, button[name=show-head]").count() == 0  # minilm's 1.2 is another head
        page.click("button[name=part-text]")
        answered(page)
        assert page.inner_text(".live-model").startswith("minilm\n6 layers, 72 heads")
        assert page.locator(".live-heads").count() == 0


@pytest.mark.slow
def test_a_run_speaks_of_the_heads_that_the_page_opened_with(lens: Lens, run: Path, open_live: Open) -> None:
    with serving({"minilm": lens}, run) as server:
        page = open_live(server, f"text={quote(TEXT)}")
        answered(page)
        page.wait_for_selector(".live-heads", timeout=60_000)
        layer = page.input_value("select[name=layer]")
        chosen = [chip.get_attribute("data-head") for chip in page.locator(".chip[aria-pressed=true]").all()]
        assert [card.inner_text() for card in page.locator(".live-heads [data-card]").all()] == [
            f"{layer}.{head}" for head in chosen
        ]


@pytest.mark.slow
def test_a_run_says_what_heads_do_and_which_texts_excite_them(
    lens: Lens, run: Path, open_live: Open, screenshot: Callable[..., Path]
) -> None:
    with serving({"minilm": lens}, run) as server:
        page = open_live(server, "part=heads")
        page.wait_for_selector(".atlas [data-head='2.8']", timeout=60_000)
        page.click(".atlas [data-head='2.8']")
        page.wait_for_selector("[data-card='2.8'] .live-exemplar", timeout=60_000)
        screenshot(page, "live-heads")
        exemplar = page.locator(".live-exemplar").first
        attending, attended = exemplar.locator("mark").all_inner_texts()
        exemplar.click()
        answered(page)
        in_sight = page.locator(".head-drawing").bounding_box()
        for side, label in (("attending", attending), ("attended", attended)):
            (token,) = page.locator(f".tokens.{side} .token[aria-selected=true]").all()
            assert token.inner_text() == label.lower()
            box = token.bounding_box()
            assert in_sight["y"] <= box["y"] <= box["y"] + box["height"] <= in_sight["y"] + in_sight["height"] + 1
            assert box["y"] + box["height"] <= 860  # of the window
        assert [text.split()[0] for text in page.locator(".chip[aria-pressed=true]").all_inner_texts()] == ["8"]
        assert page.input_value("select[name=layer]") == "2"
        words = page.input_value("textarea[name=text]")
        reading = lens.read(words)
        found = {attending.lower(), attended.lower()}
        assert found <= set(reading.tokens)
        screenshot(page, "live-exemplar")
        page.keyboard.press("Escape")
        page.wait_for_selector(".card-panel", state="detached")
        role = headscope.load_run(run).roles.set_index(["layer", "head"]).loc[(2, 8), "role"]
        assert role in page.get_attribute(".chip[data-head='8']", "aria-label")
        page.click(".live-heads [data-card='2.8']")
        page.wait_for_selector(".card-panel[data-card='2.8']")
        page.click("#tab-model")
        options = page.locator("select[name=sort] option").all_inner_texts()
        assert len(options) > 5  # numbers out of the run
