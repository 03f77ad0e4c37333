"""The head view in a real browser: lines are as strong as scores, and the numbers that people read are Python's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import headscope
from headscope import head_view
from headscope.colours import HEADS, head_colour
from tests.browser import waiting
from tests.browser.map_colours import rgb
from tests.browser.pixels import canvas_opacities, canvas_pixels
from tests.browser.waiting import fragment, until
from tests.views import decoding

pytestmark = pytest.mark.xdist_group("browser")

Open = Callable[..., Any]
Floats = NDArray[np.float64]
CANVAS = ".head-canvas"
TEXT = "The heavy box fell on the unbelievably old cat."
TOKENS = ["the", "cat", "that", "sat", "on", "it", "fell"]
BLUE, ORANGE, BLUE_ON_DARK = (0, 114, 178), (213, 94, 0), (75, 163, 219)


@pytest.fixture(scope="module")
def scores() -> Floats:
    """(layer, head, query, key)"""
    return np.random.default_rng(1).dirichlet(np.full(7, 0.4), size=(2, 3, 7))


@pytest.fixture(scope="module")
def lens(minilm: Path) -> headscope.Lens:
    return headscope.open(str(minilm))


@pytest.fixture(scope="module")
def reading(lens: headscope.Lens) -> headscope.Reading:
    return lens.read(TEXT)


@pytest.fixture(scope="module")
def saved(reading: headscope.Reading, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of MiniLM on one sentence, with every measure."""
    return head_view(reading, layer=0).save(tmp_path_factory.mktemp("head") / "minilm.html")


def drawn(page: Any) -> None:
    page.wait_for_selector(".head-view[data-drawn]")


def redrawn(page: Any, act: Callable[[], object]) -> None:
    waiting.redrawn(page, ".head-view", act)


def point(page: Any, token: str) -> None:
    redrawn(page, lambda: page.hover(f"[data-token={token}]"))


def away(page: Any) -> None:
    redrawn(page, lambda: page.mouse.move(3, 3))


def table(page: Any, direction: str = "attended") -> dict[int, dict[str, float]]:
    """The numbers of the isolated tokens: {target: {head: score}}; what is added up at the end is target -1."""
    rows = page.locator(f".targets[data-direction={direction}] tr[data-target]")
    return rows.evaluate_all(
        """(rows) => Object.fromEntries(rows.map((row) => [row.dataset.target, Object.fromEntries(
            [...row.querySelectorAll('td[data-head]')].map((cell) => [cell.dataset.head, Number(cell.dataset.score)]))]))"""
    )


def check_table(page: Any, right: Floats, layer: int, direction: str = "attended") -> None:
    """`right` is (head, target): every number is there and within a level of it, and the strongest targets are listed."""
    found = {int(target): row for target, row in table(page, direction).items()}
    rest = found.pop(-1, None)
    for target, row in found.items():
        for head, score in row.items():
            assert score == pytest.approx(right[int(head.split(".")[1]), target], abs=1 / 255), (target, head)
        assert {int(head.split(".")[1]) for head in row} == set(range(len(right)))
        assert all(head.startswith(f"{layer}.") for head in row)
    listed = sum(row[f"{layer}.0"] for row in found.values()) + (rest or {f"{layer}.0": 0})[f"{layer}.0"]
    assert listed == pytest.approx(right[0].sum(), abs=len(right[0]) / 255)
    strengths = np.abs(right).sum(0)
    assert min(strengths[target] for target in found) >= np.sort(strengths)[::-1][: len(found)].min() - len(right) / 255


def height_of_rows(page: Any) -> int:
    """Few tokens stand further apart than many do."""
    return round(page.locator("[data-token=q0]").bounding_box()["height"])


def strength(page: Any, place: int) -> float:
    """Opacity times width of the lines at the middle of the drawing, in the row of a token."""
    row_height = height_of_rows(page)
    opacity = canvas_opacities(page, CANVAS)
    top = place * row_height
    return float(opacity[top : top + row_height, opacity.shape[1] // 2].sum())


def colours(page: Any) -> set[tuple[int, ...]]:
    """The colours of what is drawn without transparency."""
    opaque = canvas_opacities(page, CANVAS) == 1
    return {tuple(colour) for colour in canvas_pixels(page, CANVAS)[opaque].tolist()}


@pytest.mark.parametrize("view", ["head", "model", "neuron", "matrix"])
def test_the_page_says_which_model_and_text_it_shows(view: str, lens: headscope.Lens, saved: Path, open_file: Open) -> None:
    page = open_file(saved, f"view={view}")
    assert page.inner_text("h1") == TEXT
    assert page.inner_text(".read-by") == f"read by {lens.name}"
    assert page.title() == f"{TEXT} · {lens.name} · headscope"


def test_a_line_is_as_strong_as_its_score(open_file: Open, tmp_path: Path) -> None:
    given = np.diag([1.0, 0.5, 0.25, 0.0])
    page = open_file(head_view(tokens=["a", "b", "c", "d"], scores=given, exact=True, layer=0).save(tmp_path / "x.html"))
    drawn(page)
    for place, score in enumerate([1.0, 0.5, 0.25]):
        right = (0.04 + 0.96 * score) * (0.5 + 2.5 * score)
        assert strength(page, place) == pytest.approx(right, rel=0.15), place
    assert strength(page, 3) == 0
    assert BLUE in colours(page)


def test_lines_go_where_the_scores_are(open_file: Open, tmp_path: Path) -> None:
    given = np.zeros((1, 2, 4, 4))
    given[0, 0, 0, 3] = given[0, 1, 3, 3] = 1
    page = open_file(
        head_view(tokens=["a", "b", "c", "d"], scores=given, exact=True, heads=[1], layer=0).save(tmp_path / "x.html")
    )
    drawn(page)
    assert [strength(page, place) > 0.5 for place in range(4)] == [False, False, False, True]
    assert colours(page) == {ORANGE}
    redrawn(page, lambda: page.click(".chip[data-head='0']", modifiers=["Shift"]))
    # From the first token to the fourth: in the middle it is halfway, between the second and the third.
    opacity = canvas_opacities(page, CANVAS)
    middle = opacity[:, opacity.shape[1] // 2]
    assert np.flatnonzero(middle > 0.5).mean() == pytest.approx(2 * height_of_rows(page), abs=1.5)
    until(page, lambda: fragment(page) == "layer=0&heads=0")


@pytest.mark.real
def test_hover_shows_what_a_token_attends_to(
    reading: headscope.Reading, saved: Path, open_file: Open, screenshot: Callable[[Any, str], Path]
) -> None:
    weights = reading.scores("weight").numpy()
    page = open_file(saved, "layer=2")
    drawn(page)
    screenshot(page, "head-all-heads")
    point(page, "q3")
    check_table(page, weights[2, :, 3], 2)
    assert page.inner_text(".targets h2") == "box attends to"
    head, target = np.unravel_index(weights[2, :, 3].argmax(), weights[2, :, 3].shape)
    said = page.inner_text(".reading")
    assert said.startswith(f"most: box → {reading.tokens[target]}: weight")
    assert said.endswith(f"(head 2.{head})")
    assert float(page.get_attribute(".reading [data-score]", "data-score")) == pytest.approx(
        weights[2, head, 3, target], abs=1 / 255
    )
    screenshot(page, "head-hover")
    away(page)
    assert page.locator(".targets").count() == 0
    point(page, "k3")
    check_table(page, weights[2, :, :, 3], 2, "attending")
    assert page.inner_text(".targets h2") == "box is attended to by"


@pytest.mark.real
def test_several_kept_tokens_are_summed_and_a_link_keeps_them(
    reading: headscope.Reading, saved: Path, open_file: Open, screenshot: Callable[[Any, str], Path]
) -> None:
    norms = reading.scores("norm").numpy()
    page = open_file(saved, "layer=1&measure=norm&heads=0,1,2")
    drawn(page)
    redrawn(page, lambda: page.click("[data-token=q2]"))
    redrawn(page, lambda: page.click("[data-token=q5]"))
    until(page, lambda: fragment(page) == "layer=1&heads=0,1,2&measure=norm&keep=q2,q5")
    away_from = page.inner_text(".targets h2")
    assert away_from == "sum of 2 tokens: heavy, on attend to"
    right = norms[1, :3, 2] + norms[1, :3, 5]
    for target, row in table(page).items():
        for head, score in row.items():
            if target != "-1":
                most = float(norms[1, int(head[2:])].max())
                assert score == pytest.approx(right[int(head[2:]), int(target)], abs=2 * most / 255)
    again = open_file(saved, fragment(page))
    drawn(again)
    assert table(again) == table(page)
    assert again.locator(".token[aria-selected=true]").count() == 2
    screenshot(again, "head-two-kept")
    # A token of the other side that is pointed at: the number of just this pair.
    point(again, "k4")
    assert again.inner_text(".reading").startswith("sum of 2 tokens → fell: norm")
    assert float(again.get_attribute(".reading [data-score]", "data-score")) == pytest.approx(
        right[:, 4].max(), abs=2 * float(norms[1, :3].max()) / 255
    )
    redrawn(again, lambda: again.keyboard.press("Escape"))
    until(again, lambda: "keep" not in fragment(again))
    assert again.locator(".token[aria-selected=true]").count() == 0


@pytest.mark.real
def test_words_measures_and_joint_measures(reading: headscope.Reading, saved: Path, open_file: Open) -> None:
    page = open_file(saved, "layer=3")
    drawn(page)
    redrawn(page, lambda: page.select_option("select[name=level]", "word"))
    words = reading.to_words()
    assert page.locator("[data-token^=q]").all_inner_texts() == words.tokens
    point(page, "q7")
    check_table(page, words.scores("weight").numpy()[3, :, 7], 3)
    away(page)
    redrawn(page, lambda: page.select_option("select[name=measure]", "joint_norm"))
    assert "one map for all heads of layer 3 together" in page.inner_text(".chips")
    point(page, "q7")
    joint = words.scores("joint_norm").numpy()[3, 0].astype(float)
    for target, row in table(page).items():
        if target != "-1":
            assert row == {"all heads together": pytest.approx(joint[7, int(target)], abs=3 * joint.max() / 255)}


@pytest.mark.real
def test_hidden_specials_pairs_threshold_and_top(
    lens: headscope.Lens, open_file: Open, tmp_path: Path, screenshot: Callable[[Any, str], Path]
) -> None:
    reading = lens.read("Where is the box?", pair="It is on the cat.")
    path = head_view(reading, exact=True, layer=2).save(tmp_path / "pair.html")
    weights = reading.scores("weight").numpy()[2]
    tokens = reading.tokens
    second = tokens.index("[SEP]") + 1
    first = np.arange(len(tokens)) < second
    special = np.array([token in ("[CLS]", "[SEP]") for token in tokens])

    page = open_file(path, "view=head&layer=2&sinks=hidden")
    drawn(page)
    assert page.locator("[data-token^=k]").all_inner_texts() == [t for t in tokens if t not in ("[CLS]", "[SEP]")]
    hidden = weights[:, ~special][..., special].sum() / weights[:, ~special].sum()
    until(page, lambda: page.inner_text(".hidden-share") == f"{100 * hidden:.0f}% hidden")

    redrawn(page, lambda: page.select_option("select[name=pairs]", "ba"))
    assert page.locator("[data-token^=q]").all_inner_texts() == [t for t in tokens[second:] if t != "[SEP]"]
    assert page.locator("[data-token^=k]").all_inner_texts() == [t for t in tokens[:second] if t not in ("[CLS]", "[SEP]")]
    screenshot(page, "head-pair")

    shown = weights[:, ~first & ~special][..., first & ~special]
    lines = page.locator(".head-caption")
    assert float(lines.get_attribute("data-most")) == pytest.approx(shown.max(), rel=1e-5)
    assert int(lines.get_attribute("data-lines")) == (shown >= shown.max() / 255).sum()
    redrawn(page, lambda: page.locator("input[name=least]").fill("0.3"))
    assert int(lines.get_attribute("data-lines")) == (shown >= 0.3 * shown.max()).sum()
    redrawn(page, lambda: page.locator("input[name=least]").fill("0"))
    redrawn(page, lambda: page.locator("input[name=top]").fill("1"))
    assert int(lines.get_attribute("data-lines")) == (shown.max(-1) >= shown.max() / 255).sum()
    until(page, lambda: "pairs=ba&top=1&sinks=hidden" in fragment(page))


def test_heads_have_the_colours_of_print(open_file: Open, tmp_path: Path) -> None:
    many = np.full((len(HEADS) + 1, 2, 2), 0.5)
    page = open_file(head_view(tokens=["a", "b"], scores=many, layer=0).save(tmp_path / "x.html"))
    drawn(page)
    shown = page.eval_on_selector_all(".chip", "chips => chips.map((chip) => getComputedStyle(chip).borderColor)")
    assert shown == [f"rgb{rgb(head_colour(place))}" for place in range(len(many))]


def test_chips_choose_heads(scores: Floats, open_file: Open, tmp_path: Path) -> None:
    page = open_file(head_view(tokens=TOKENS, scores=scores, exact=True, layer=0).save(tmp_path / "x.html"))
    drawn(page)
    pressed = page.locator(".chip[aria-pressed=true]")

    def chosen() -> list[str]:
        return [one.get_attribute("data-head") for one in pressed.all()]

    page.click(".chip[data-head='1']")
    until(page, lambda: chosen() == ["0", "2"])
    until(page, lambda: fragment(page) == "layer=0&heads=0,2")
    page.dblclick(".chip[data-head='1']")
    until(page, lambda: chosen() == ["1"])
    point(page, "q0")
    assert all(set(row) == {"0.1"} for row in table(page).values())
    page.click("button[name=no-heads]")
    until(page, lambda: "No head is chosen" in page.inner_text(".reading"))
    until(page, lambda: fragment(page) == "layer=0&heads=")
    until(page, lambda: canvas_opacities(page, CANVAS).max() == 0)
    page.click("button[name=all-heads]")
    until(page, lambda: len(chosen()) == 3)
    page.focus(".chip[data-head='0']")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    until(page, lambda: chosen() == ["0", "2"])
    page.keyboard.press("]")
    until(page, lambda: fragment(page) == "layer=1&heads=0,2")
    page.hover(".chip[data-head='2']")  # alone, while the pointer is there
    lines = page.locator(".head-caption")
    shown = scores[1][[0, 2]]
    until(page, lambda: int(lines.get_attribute("data-lines")) == (shown[1] >= shown.max() / 255).sum())


@pytest.mark.real
def test_all_heads_together_are_all_of_the_model_also_where_the_page_has_one(
    reading: headscope.Reading, open_file: Open, tmp_path: Path
) -> None:
    page = open_file(head_view(reading, only={2: [5]}, measure="joint_norm", exact=True).save(tmp_path / "x.html"))
    drawn(page)
    assert page.inner_text(".chips") == "This measure has one map for all heads of layer 2 together."
    point(page, "q1")
    right = reading.scores("joint_norm")[2, 0, 1].numpy()
    for key, row in table(page).items():
        if key != "-1":
            assert row == {"all heads together": pytest.approx(right[int(key)], rel=1e-5)}


def test_an_address_of_another_page(scores: Floats, open_file: Open, tmp_path: Path) -> None:
    path = head_view(tokens=TOKENS, scores=scores, layer=0).save(tmp_path / "x.html")
    stale = "attention=decoder%20cross&layer=44&heads=77&measure=norm&pairs=ab&keep=q99,k1&sort=entropy&least=5&top=2.5"
    page = open_file(path, stale)
    drawn(page)
    assert page.input_value("select[name=layer]") == "0"
    assert page.input_value("select[name=measure]") == "weight"
    assert page.locator(".chip[aria-pressed=true]").count() == 3
    assert page.locator("[data-token][aria-selected=true]").all_text_contents() == [TOKENS[1]]
    assert page.inner_text("label:has(input[name=least]) output") == "100%"
    assert page.inner_text("label:has(input[name=top]) output") == "2"
    page.keyboard.press("w")  # every token is a word here: nothing changes, and what is kept stays
    page.keyboard.press("]")
    until(page, lambda: page.input_value("select[name=layer]") == "1")
    assert "level=word" not in fragment(page)
    assert page.locator("[data-token][aria-selected=true]").count() == 1


def test_a_kept_token_is_whole(open_file: Open, tmp_path: Path) -> None:
    tokens = ["unbelievable", "wwwwwwwwwwww", "a"]
    page = open_file(head_view(tokens=tokens, scores=np.eye(3), keep=["q1", "k1"], layer=0).save(tmp_path / "x.html"))
    drawn(page)
    for token in page.locator("[data-token][aria-selected=true]").all():
        assert token.evaluate("element => element.scrollWidth <= element.clientWidth")


def test_the_bound_that_is_said_holds(open_file: Open, tmp_path: Path) -> None:
    given = np.random.default_rng(0).dirichlet(np.ones(4), size=(1, 1, 4))
    path = head_view(tokens=list("abcd"), scores=given, layer=0).save(tmp_path / "x.html")
    error = decoding.parts(path.read_text())[0]["error"]
    said = re.search(r"off by more than ([0-9.]+)%", open_file(path).inner_text(".footer"))
    assert said is not None
    assert error <= float(said[1]) / 100 < error + 0.001


def test_keys_move_among_tokens(
    scores: Floats, open_file: Open, tmp_path: Path, screenshot: Callable[[Any, str], Path]
) -> None:
    page = open_file(head_view(tokens=TOKENS, scores=scores, exact=True, layer=0).save(tmp_path / "x.html"))
    drawn(page)
    page.focus(".chip[data-head='0']")
    for _ in range(4):
        page.keyboard.press("Tab")
    redrawn(page, lambda: page.keyboard.press("ArrowDown"))
    assert page.evaluate("document.activeElement.dataset.token") == "q1"
    check_table(page, scores[0, :, 1], 0)
    screenshot(page, "head-keyboard")
    redrawn(page, lambda: page.keyboard.press("ArrowRight"))
    check_table(page, scores[0, :, :, 1], 0, "attending")
    page.keyboard.press("Enter")
    until(page, lambda: fragment(page) == "layer=0&keep=k1")
    page.keyboard.press("End")
    page.keyboard.press("Space")
    until(page, lambda: fragment(page) == "layer=0&keep=k1,k6")
    page.keyboard.press("Escape")
    until(page, lambda: fragment(page) == "layer=0")
    assert page.locator(".targets").count() == 0


def test_a_row_of_the_numbers_leads_to_its_token(open_file: Open, tmp_path: Path) -> None:
    given = np.zeros((200, 200))
    given[3, [4, 190]] = 0.4, 0.6
    page = open_file(
        head_view(tokens=[f"w{i}" for i in range(200)], scores=given, keep=["q3"], exact=True, layer=0).save(
            tmp_path / "x.html"
        )
    )
    drawn(page)
    redrawn(page, lambda: page.hover("tr[data-target='4']"))
    assert page.inner_text(".reading") == "w3 → w4: weight 0.4 (head 0.0)"
    page.click("tr[data-target='190']")
    frame = page.locator(".head-drawing").bounding_box()
    until(page, lambda: 0 < page.locator("[data-token=k190]").bounding_box()["y"] - frame["y"] < frame["height"])


def test_cross_attention_has_other_tokens_on_the_right(open_file: Open, tmp_path: Path) -> None:
    given = np.random.default_rng(2).dirichlet(np.ones(3), size=(1, 2, 5))
    view = head_view(
        tokens=["le", "chat", "a", "bu", "."], key_tokens=["the", "cat", "drank"], scores=given, exact=True, layer=0
    )
    page = open_file(view.save(tmp_path / "x.html"))
    drawn(page)
    assert page.locator("[data-token^=q]").count() == 5
    assert page.locator("[data-token^=k]").all_inner_texts() == ["the", "cat", "drank"]
    point(page, "q4")
    check_table(page, given[0, :, 4], 0)
    redrawn(page, lambda: page.hover("[data-token=k2]"))
    check_table(page, given[0, :, :, 2], 0, "attending")


def test_tokens_are_text_whatever_they_are(open_file: Open, tmp_path: Path, screenshot: Callable[[Any, str], Path]) -> None:
    tokens = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "&amp;",
        "\"'`",
        "😀👩‍🚀",
        "مرحبا",
        "שלום",
        "a\x00b",
        "\n",
        "\u202eabc",
        "\u200b",
        "\U000e0041",
    ]
    given = np.random.default_rng(3).dirichlet(np.ones(len(tokens)), size=(1, 2, len(tokens)))
    page = open_file(head_view(tokens=tokens, scores=given, keep=["q0", "k5"], layer=0).save(tmp_path / "x.html"))
    drawn(page)
    shown = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "&amp;",
        "\"'`",
        "😀👩‍🚀",
        "مرحبا",
        "שלום",
        "a␀b",
        "⏎",
        "<U+202E>abc",
        "<U+200B>",
        "<U+E0041>",
    ]
    assert page.locator("[data-token^=q]").all_text_contents() == shown
    assert page.locator(".targets[data-direction=attended] tbody th").all_text_contents()[0] in shown
    assert page.locator("#app script, #app img").count() == 0
    screenshot(page, "head-odd-tokens")


def test_negative_scores_are_dashed_and_it_is_said(
    open_file: Open, tmp_path: Path, screenshot: Callable[[Any, str], Path]
) -> None:
    given = np.diag([1.0, -1.0])[None, None]
    page = open_file(
        head_view(tokens=["a", "b"], scores={"effective": given}, exact=True, layer=0).save(tmp_path / "x.html")
    )
    drawn(page)
    opacity = canvas_opacities(page, CANVAS)
    left, right = opacity.shape[1] // 2 - 40, opacity.shape[1] // 2 + 40
    middle = height_of_rows(page) // 2
    full, dashed = opacity[middle, left:right].mean(), opacity[3 * middle, left:right].mean()
    assert full > 0.95
    assert dashed == pytest.approx(4 / 7 * full, abs=0.1)
    assert "Dashed lines are below zero" in page.inner_text(".head-caption")
    point(page, "q1")
    assert table(page) == {"1": {"0.0": -1}}
    screenshot(page, "head-negative")


def test_dark_mode_draws_anew(
    scores: Floats, open_file: Open, tmp_path: Path, screenshot: Callable[[Any, str], Path]
) -> None:
    path = head_view(tokens=TOKENS, scores=np.eye(7), layer=0).save(tmp_path / "x.html")
    page = open_file(path)
    drawn(page)
    assert colours(page) == {BLUE}
    redrawn(page, lambda: page.click("button[name=theme]"))
    assert colours(page) == {BLUE_ON_DARK}
    until(page, lambda: fragment(page) == "layer=0&theme=dark")
    screenshot(page, "head-dark")
    system = open_file(path, dark=True)
    drawn(system)
    assert colours(system) == {BLUE_ON_DARK}


@pytest.mark.real
def test_it_fits_a_phone(saved: Path, open_file: Open, screenshot: Callable[[Any, str], Path]) -> None:
    page = open_file(saved, "layer=1", width=390, height=844, phone=True)
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    redrawn(page, lambda: page.tap("[data-token=q3]"))
    assert "box attends to" in page.inner_text(".targets h2")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    lists = [page.locator(side).bounding_box() for side in (".tokens.attending", ".tokens.attended")]
    assert lists[0]["x"] + lists[0]["width"] + 80 <= lists[1]["x"]
    screenshot(page, "head-phone")


def test_lines_begin_at_the_tokens_that_a_page_opens_with(open_file: Open, tmp_path: Path) -> None:
    """Far down a text: what is painted at first is what is painted again after scrolling away and back."""
    scores = np.random.default_rng(2).dirichlet(np.full(90, 0.4), size=90)
    page = open_file(head_view(tokens=[f"t{n}" for n in range(90)], scores=scores).save(tmp_path / "x.html"), "keep=q60,k59")
    drawn(page)
    page.wait_for_timeout(300)
    first = page.locator(CANVAS).evaluate("(canvas) => canvas.toDataURL()")
    assert page.locator(".head-drawing").evaluate("(one) => one.scrollTop") > 100
    for pixels in (-200, 200):
        page.locator(".head-drawing").evaluate("(one, pixels) => one.scrollBy(0, pixels)", pixels)
        page.wait_for_timeout(200)
    assert page.locator(CANVAS).evaluate("(canvas) => canvas.toDataURL()") == first
