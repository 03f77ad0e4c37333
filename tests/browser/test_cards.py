"""A card's pictures in a real Chromium, against the tables; and what opens from them, in a report and at a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headscope
from headscope.heads.exemplar_scores import NAME as SCORES
from headscope.report import add_model_tables, description, report_statistics
from headscope.study.run import Run
from headscope.text import Corpus
from tests.browser.live_server import serving
from tests.browser.map_colours import sequential
from tests.browser.waiting import fragment, until
from tests.statistics.tester import lens_for

pytestmark = pytest.mark.xdist_group("browser")
LINES = ["the cat sat on the mat and the cat sat", "two dogs and a cat", "one unbelievable end , the end .", "a dog"]
LONG = " ".join(["the cat sat on the mat , a dog"] * 4)  # its pairs are further apart than a small picture is high


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A tiny decoder's, all that a report draws, of a file that a server finds again."""
    folder = tmp_path_factory.mktemp("cards")
    (folder / "corpus.txt").write_text("\n".join([*LINES, LONG]) + "\n", encoding="utf-8")
    lens, corpus = lens_for("llama"), Corpus.of(folder / "corpus.txt")
    made = headscope.study(lens, corpus, report_statistics(lens), out=folder / "run")
    add_model_tables(lens, made, corpus)
    made.report()
    return made


def of_head(run: Run, table: str, label: str) -> Any:
    layer, head = map(int, label.split("."))
    found = run[table]
    return found[(found["layer"] == layer) & (found["head"] == head)]


def opened(page: Any, label: str) -> None:
    page.wait_for_selector(f'.card-panel[data-card="{label}"] .exemplar-lines[data-drawn=true]')


def test_the_mean_map_has_the_colours_of_its_table(run: Run, open_file: Callable[..., Any]) -> None:
    page = open_file(run.folder / "report.html", "head=1.2", width=1400, height=1000)
    opened(page, "1.2")
    table = of_head(run, "position_map", "1.2")
    shown = table[(table["query"] > 0) & (table["key"] > 0)].sort_values(["query", "key"])  # without the first token
    squares = page.eval_on_selector_all(
        ".map-picture [data-score]", "all => all.map(o => [Number(o.dataset.score), o.getAttribute('fill')])"
    )
    np.testing.assert_allclose([score for score, _ in squares], shown["score"].round(4), atol=1e-6)
    most = max(score for score, _ in squares)
    for score, colour in squares:
        found = [int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
        np.testing.assert_allclose(found, sequential(np.array(score / most)), atol=2)
    rows = table[table["query"] > 0]
    hidden = rows[rows["key"] == 0]["score"].sum() / rows["score"].sum()
    assert f"Position 0, its sink, has {hidden:.0%} and is left out" in page.inner_text(".map-picture")


def test_the_profile_has_the_shares_of_beyond_sinks(run: Run, open_file: Callable[..., Any]) -> None:
    page = open_file(run.folder / "report.html", "head=2.1", width=1400, height=1000)
    opened(page, "2.1")
    bars = dict(
        page.eval_on_selector_all(
            ".profile-picture [data-share]", "all => all.map(o => [o.dataset.nearest, Number(o.dataset.share)])"
        )
    )
    (known,) = of_head(run, "beyond_sinks", "2.1").to_dict("records")
    for nearest, column in (("-2", "two_before"), ("-1", "previous"), ("0", "same")):
        assert bars[nearest] == pytest.approx(known[column], abs=1e-4)
    assert sum(bars.values()) == pytest.approx(1, abs=1e-3)
    heights = page.eval_on_selector_all(".profile-bar", "all => all.map(o => o.getBoundingClientRect().height)")
    np.testing.assert_allclose(np.array(heights) / max(heights), np.array([*bars.values()]) / max(bars.values()), atol=0.01)


def test_lines_have_the_scores_of_the_text_and_none_goes_to_a_sink(run: Run, open_file: Callable[..., Any]) -> None:
    drawn = 0
    for label in ("0.0", "1.2", "2.3"):
        page = open_file(run.folder / "report.html", f"head={label}", width=1400, height=1200)
        opened(page, label)
        table = of_head(run, SCORES, label)
        places = sorted(table["row"].unique())  # a long text is kept in part
        known = {(row.row, row.key): (row.score, row.sink) for row in table.itertuples()}
        lines = page.eval_on_selector_all(
            ".exemplar-sheet line", "all => all.map(o => [o.dataset.from, o.dataset.to, o.dataset.score].map(Number))"
        )
        about_a_sink = table[table["pair"]]["sink"].item()
        for at, to, score in lines:
            expected, sink = known[places[int(at)], places[int(to)]]
            assert score == pytest.approx(expected, abs=table["score"].max() / 255)
            assert about_a_sink or not sink
        (pair,) = page.eval_on_selector_all(".exemplar-sheet line.pair", "all => all.map(o => Number(o.dataset.score))")
        assert pair == pytest.approx(table[table["pair"]]["score"].item(), abs=table["score"].max() / 255)
        marks = page.locator(".exemplar-sheet mark").all_inner_texts()
        assert marks == [table[table["pair"]][side].item() for side in ("attending", "attended")]
        drawn += len(lines)
    assert drawn > 20


def in_sight(page: Any, names: list[str]) -> None:
    """Both kept tokens are marked, inside the drawing, inside the window, and nothing lies over them."""
    tokens = page.locator(".head-drawing .token[aria-selected=true]")
    until(page, lambda: tokens.count() == len(names))
    assert tokens.all_inner_texts() == names
    look = """el => {
        const [box, around] = [el, el.closest('.head-drawing')].map((one) => one.getBoundingClientRect());
        const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        return el.contains(hit) && box.top >= around.top - 2 && box.bottom <= around.bottom + 2
            && box.top >= -2 && box.bottom <= innerHeight + 2;
    }"""
    until(page, lambda: all(token.evaluate(look) for token in tokens.all()))


def farthest(run: Run) -> str:
    """The head whose drawn pair is furthest apart."""
    pairs = run[SCORES][run[SCORES]["pair"]]
    row = pairs.loc[(pairs["row"] - pairs["key"]).abs().idxmax()]
    return f"{row['layer']}.{row['head']}"


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1366, 500), (390, 700)])
def test_the_exemplar_opens_with_its_pair_in_sight(
    width: int, height: int, run: Run, open_file: Callable[..., Any], screenshot: Callable[..., Path]
) -> None:
    label = farthest(run)
    page = open_file(run.folder / "report.html", f"head={label}", width=width, height=height, phone=width < 600)
    opened(page, label)
    screenshot(page, f"card-{width}")
    marks = page.locator(".exemplar-sheet mark").all_inner_texts()
    page.click("button[name=open-exemplar]")
    page.wait_for_selector(".exemplar-part .head-drawing canvas")
    in_sight(page, marks)
    screenshot(page, f"exemplar-{width}")
    assert f"part=text&exemplar={label}" in fragment(page).replace(f"head={label}&", "")
    assert (page.locator(".card-panel").count() == 0) == (width < 600)  # there it would cover the text
    (pair,) = of_head(run, SCORES, label).query("pair")["score"]
    said = page.inner_text(".head-aside")
    assert f"{marks[0]} attends to" in " ".join(said.split())
    assert f"{pair:.2f}"[:3] in said
    again = open_file(run.folder / "report.html", fragment(page), width=width, height=height)  # a link to it
    again.wait_for_selector(".exemplar-part .head-drawing canvas")
    in_sight(again, marks)


def test_a_card_that_covers_the_page_can_be_scrolled(run: Run, open_file: Callable[..., Any]) -> None:
    page = open_file(run.folder / "report.html", "head=1.2", width=390, height=700, phone=True)
    opened(page, "1.2")
    height, whole = page.eval_on_selector(".card-panel", "panel => [panel.clientHeight, panel.scrollHeight]")
    assert height <= 700 < whole


def test_at_a_server_the_same_text_is_read(run: Run, open_live: Callable[..., Any]) -> None:
    label = farthest(run)
    with serving({"tiny": lens_for("llama")}, run.folder) as server:
        page = open_live(server, f"part=heads&head={label}")
        opened(page, label)
        marks = page.locator(".exemplar-sheet mark").all_inner_texts()
        page.click("button[name=open-exemplar]")
        page.wait_for_selector(".live-column [data-ready=true] .head-drawing canvas")
        in_sight(page, marks)
        text = page.input_value("textarea[name=text]")
        assert text in [*LINES, LONG]
        layer, head = map(int, label.split("."))
        keep = next(part for part in fragment(page).split("&") if part.startswith("keep=")).removeprefix("keep=")
        row, key = (int(name[1:]) for name in keep.replace("%2C", ",").split(","))
        score = float(lens_for("llama").read(text).scores("weight", layer=layer)[head, row, key])
        table = of_head(run, SCORES, label)
        assert score == pytest.approx(table[table["pair"]]["score"].item(), abs=1e-4)


def test_a_head_without_a_role_says_its_nearest_miss(run: Run, open_file: Callable[..., Any]) -> None:
    missed = [head for head in description(run)["heads"] if head["nearest"]]
    assert missed
    head = missed[0]
    page = open_file(run.folder / "report.html", f"head={head['label']}", width=1400, height=1000)
    opened(page, head["label"])
    assert page.inner_text(".missed .rule") == head["nearest"]["says"]
    bar, there, line = (page.locator(f".missed {part}").bounding_box() for part in (".bar", ".bar i", ".bar b"))
    assert there["width"] / bar["width"] == pytest.approx(head["nearest"]["score"], abs=0.01)
    assert (line["x"] + 1 - bar["x"]) / bar["width"] == pytest.approx(head["nearest"]["needed"], abs=0.01)
