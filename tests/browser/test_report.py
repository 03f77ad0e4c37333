"""The report in a real Chromium, from a file, with the network off: what it draws and says against the tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from headscope.report import description, write_report
from headscope.report.heads.exemplars import source_of
from headscope.study import load_run
from tests.browser.map_colours import diverging, sequential
from tests.browser.reports import ODD
from tests.browser.waiting import fragment, redrawn, until
from tests.report.samples import made_run, per_head

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def described(demo: Path) -> dict[str, Any]:
    return description(demo)


def colours(page: Any) -> dict[str, tuple[list[int], float | None]]:
    """By head, the colour of its square and the number that it shows."""
    found = page.eval_on_selector_all(
        ".square", "all => all.map(one => [one.dataset.head, getComputedStyle(one).backgroundColor, one.dataset.value])"
    )
    return {
        head: ([int(part) for part in re.findall(r"\d+", colour)[:3]], None if value is None else float(value))
        for head, colour, value in found
    }


def card_of(page: Any, label: str) -> None:
    """Wait until this head's card is open."""
    page.wait_for_selector(f'.card-panel[data-card="{label}"]')


def by_label(table: pd.DataFrame, column: str) -> dict[str, float]:
    return {f"{row.layer}.{row.head}": value for row, value in zip(table.itertuples(), table[column], strict=True)}


@pytest.mark.real
def test_findings_open_the_cards_of_their_heads(
    demo: Path, described: dict[str, Any], open_file: Callable[..., Any], screenshot: Callable[..., Path]
) -> None:
    page = open_file(demo / "report.html", width=1400, height=1000)
    screenshot(page, "report")
    page.click(".findings .more")
    page.wait_for_selector(".findings .more", state="detached")
    said = [
        text.removesuffix("table")
        for text in page.eval_on_selector_all(".findings li", "all => all.map(o => o.textContent)")
    ]
    assert said == [finding["text"] for finding in described["findings"]]
    link = page.query_selector(".findings .head-link")
    label = link.text_content()
    link.click()
    card_of(page, label)
    until(page, lambda: f"head={label}" in fragment(page))
    page.keyboard.press("Escape")
    page.wait_for_selector(".card-panel", state="detached")
    page.click(".findings .table-link")
    page.wait_for_selector(f'.one-table[data-table="{described["findings"][0]["table"]}"]')


@pytest.mark.real
@pytest.mark.parametrize("name", ["beyond_sinks.previous", "entropy_norm.entropy", "special_tokens.[CLS]"])
def test_squares_have_the_colours_of_their_numbers(name: str, demo: Path, open_file: Callable[..., Any]) -> None:
    page = open_file(demo / "report.html", f"by={name}")
    table, _, column = name.partition(".")
    expected = by_label(load_run(demo)[table], column)
    shown = colours(page)
    assert {head: value for head, (_, value) in shown.items()} == expected
    most = max(expected.values())
    assert page.get_attribute(".scale", "data-least") == "0"
    assert float(page.get_attribute(".scale", "data-most")) == most
    for head, (colour, value) in shown.items():
        np.testing.assert_allclose(colour, sequential(np.array(value / most)), atol=2, err_msg=head)


@pytest.mark.real
def test_roles_are_coloured_alike_and_counted(demo: Path, described: dict[str, Any], open_file: Callable[..., Any]) -> None:
    page = open_file(demo / "report.html")
    families = {head["label"]: head["family"] for head in described["heads"]}
    shown = page.eval_on_selector_all(
        ".square", "all => all.map(o => [o.dataset.head, o.dataset.family, getComputedStyle(o).backgroundColor])"
    )
    assert {head: family for head, family, _ in shown} == families
    assert len({(family, colour) for _, family, colour in shown}) == len(set(families.values()))
    legend = " ".join(page.inner_text(".roles").split())
    assert f"broad {list(families.values()).count('broad')}" in legend
    assert f"no role found {list(families.values()).count('none')}" in legend


@pytest.mark.real
def test_pointing_tells_the_number_and_keys_go_from_head_to_head(demo: Path, open_file: Callable[..., Any]) -> None:
    page = open_file(demo / "report.html", "by=beyond_sinks.previous")
    values = by_label(load_run(demo)["beyond_sinks"], "previous")
    page.hover('.square[data-head="1.9"]')
    rank = 1 + sum(value > values["1.9"] for value in values.values())
    said = f"1.9 previous token, share beyond sinks: {values['1.9']:.3g} (rank {rank} of 72)"
    until(page, lambda: said in page.inner_text(".atlas .reading"))
    page.focus('.square[tabindex="0"]')
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.head") == "1.1"
    page.keyboard.press("Enter")
    card_of(page, "1.1")
    page.keyboard.press("Escape")
    page.wait_for_selector(".card-panel", state="detached")
    redrawn(page, ".atlas", lambda: page.check("input[name=order]"))
    for layer in range(6):
        shown = [value for head, (_, value) in colours(page).items() if head.startswith(f"{layer}.")]
        assert shown == sorted(shown, reverse=True)


@pytest.mark.real
@pytest.mark.parametrize("label", ["0.2", "2.9", "4.5", "1.4", "5.11"])
def test_a_card_says_what_python_says(
    label: str, demo: Path, described: dict[str, Any], open_file: Callable[..., Any], screenshot: Callable[..., Path]
) -> None:
    page = open_file(demo / "report.html", width=1400, height=1200)
    page.click(f'.square[data-head="{label}"]')
    card_of(page, label)
    screenshot(page, f"report-card-{label}")
    place, head = next((i, head) for i, head in enumerate(described["heads"]) if head["label"] == label)
    text = page.inner_text(".card-panel")
    for said in (head["says"], head["rule"], head["role"]):
        assert said in text
    assert f"{head['special']['weight']:.0%}" in text or f"{head['special']['weight']:.1%}" in text
    page.click(".numbers + details summary")
    page.wait_for_selector("details .numbers")
    numbers = page.eval_on_selector_all(
        "[data-statistic]", "all => all.map(o => [o.dataset.statistic, Number(o.dataset.value)])"
    )
    expected = {one["name"]: one["values"][place] for one in described["statistics"] if one["card"]}
    assert dict(numbers) == {name: value for name, value in expected.items() if value is not None}
    ranks = page.eval_on_selector_all(
        ".numbers [data-statistic]", "all => all.map(o => [o.dataset.statistic, o.lastChild.textContent])"
    )
    for name, rank in ranks:
        values = next(one["values"] for one in described["statistics"] if one["name"] == name)
        larger = sum(value is not None and value > values[place] for value in values)
        assert rank == f"{1 + larger} of {sum(value is not None for value in values)}"
    marks = page.eval_on_selector_all(
        ".exemplars li", "all => all.map(o => [...o.querySelectorAll('mark')].map(m => [m.className, m.textContent]).sort())"
    )
    assert marks == [
        sorted([run["mark"], run["text"]] for run in exemplar["runs"] if run["mark"]) for exemplar in head["exemplars"]
    ]
    first = page.get_attribute("[data-statistic]", "data-statistic")
    page.click(".explained")
    page.wait_for_selector(".explanation")
    assert next(one["about"] for one in described["statistics"] if one["name"] == first) in page.inner_text(".explanation")
    near = page.eval_on_selector_all(".neighbours .head-link", "all => all.map(o => o.textContent)")
    (scatter,) = described["scatters"]
    mine = next(place for place, one in enumerate(scatter["heads"]) if described["heads"][one]["label"] == label)
    assert near == [described["heads"][one["head"]]["label"] for one in scatter["nearest"][mine]]
    page.click(".neighbours .head-link")
    card_of(page, near[0])


@pytest.mark.real
def test_the_map_of_heads(demo: Path, described: dict[str, Any], open_file: Callable[..., Any]) -> None:
    page = open_file(demo / "report.html")
    (scatter,) = described["scatters"]
    places = dict(
        page.eval_on_selector_all(
            ".point", "all => all.map(o => [o.dataset.head, [o.cx.baseVal.value, o.cy.baseVal.value]])"
        )
    )
    labels = [head["label"] for head in described["heads"]]
    drawn = np.array([places[labels[head]] for head in scatter["heads"]])
    given = np.stack([scatter["x"], -np.array(scatter["y"])], 1)
    scale = np.ptp(drawn[:, 0]) / np.ptp(given[:, 0])  # one for both axes
    np.testing.assert_allclose(drawn - drawn[0], (given - given[0]) * scale, atol=0.1)
    page.hover('.point[data-head="0.2"]')
    assert page.text_content(".point-label") == "0.2"
    page.select_option(".scatter select", "layer")
    fills = "all => new Set(all.map(o => o.getAttribute('fill'))).size"
    until(page, lambda: page.eval_on_selector_all(".point", fills) == 6)
    page.click('.point[data-head="0.2"]')
    card_of(page, "0.2")


@pytest.mark.real
def test_tables_are_sorted_filtered_and_saved(
    demo: Path, open_file: Callable[..., Any], screenshot: Callable[..., Path], tmp_path: Path
) -> None:
    page = open_file(demo / "report.html", "part=tables&table=beyond_sinks")
    table = load_run(demo)["beyond_sinks"]
    page.wait_for_selector(".one-table tbody tr")

    def heads() -> list[str]:
        return page.eval_on_selector_all(".one-table tbody th", "all => all.map(o => o.textContent)")

    until(page, lambda: heads() == list(by_label(table, "rest")))
    page.click('[data-column="previous"]')
    ordered = table.sort_values("previous", ascending=False, kind="stable")
    until(page, lambda: heads() == list(by_label(ordered, "previous")))
    screenshot(page, "report-table")
    page.click('[data-column="previous"]')
    until(page, lambda: heads()[0] == list(by_label(ordered, "previous"))[-1])
    page.fill("input[name=find]", "2.9")
    until(page, lambda: heads() == ["2.9"])
    until(page, lambda: "find=2.9" in fragment(page))
    page.fill("input[name=find]", "nothing at all")
    until(page, lambda: heads() == [])
    page.wait_for_selector("text=No row has")
    for name in ("beyond_sinks", "exemplars", "exemplars_readable"):
        page.click(f'.table-list button:has(small:text-is("{name}"))')
        page.wait_for_selector(f'.one-table[data-table="{name}"]')
        with page.expect_download() as waiting:
            page.click("button[name=csv]")
        assert waiting.value.suggested_filename == f"{name}.csv"
        waiting.value.save_as(tmp_path / "saved.csv")
        original = load_run(demo)[name]
        if "source" in original:
            original["source"] = original["source"].map(source_of)  # of a path only its end
        saved = pd.read_csv(tmp_path / "saved.csv", dtype=dict(original.dtypes), keep_default_na=False, na_values=[""])
        pd.testing.assert_frame_equal(saved.fillna(""), original.fillna(""), check_exact=True, check_dtype=False)


@pytest.mark.real
def test_a_link_opens_the_same_page_and_dark_is_dark(
    demo: Path, open_file: Callable[..., Any], screenshot: Callable[..., Path]
) -> None:
    first = open_file(demo / "report.html", width=1400, height=1000)
    redrawn(first, ".atlas", lambda: first.select_option("select[name=by]", "distance.distance"))
    redrawn(first, ".atlas", lambda: first.check("input[name=order]"))
    first.click('.square[data-head="3.8"]')
    card_of(first, "3.8")
    redrawn(first, ".atlas", lambda: first.click("button[name=theme]"))
    until(first, lambda: "theme=dark" in fragment(first))
    screenshot(first, "report-dark")
    again = open_file(demo / "report.html", fragment(first), width=1400, height=1000)
    for page in (first, again):
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"
        card_of(page, "3.8")
        assert page.is_checked("input[name=order]")
    assert colours(first) == colours(again)
    light = open_file(demo / "report.html", "by=distance.distance")
    assert colours(light)["3.8"][0] != colours(again)["3.8"][0]


@pytest.mark.real
def test_a_phone_needs_no_sideways_scrolling(
    demo: Path, open_file: Callable[..., Any], screenshot: Callable[..., Path]
) -> None:
    page = open_file(demo / "report.html", width=390, height=844, phone=True)
    for part in ("heads", "tables", "run"):
        page.click(f'[role=tab]:has-text("{part}")')
        page.wait_for_selector(f'.part[data-part="{part}"]')
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click('[role=tab]:has-text("heads")')
    screenshot(page, "report-phone")
    page.tap('.square[data-head="1.9"]')
    card_of(page, "1.9")
    box = page.query_selector(".card-panel").bounding_box()
    assert (box["x"], box["width"]) == (0, 390)
    screenshot(page, "report-phone-card")
    page.click("button[name=close]")
    page.wait_for_selector(".card-panel", state="detached")


def test_texts_are_texts_and_figures_images(
    plain: Path, open_file: Callable[..., Any], screenshot: Callable[..., Path]
) -> None:
    page = open_file(plain / "report.html")
    for place, text in enumerate(ODD):
        page.click(f'.square[data-head="{place // 3}.{place % 3}"]')
        card_of(page, f"{place // 3}.{place % 3}")
        assert text in page.eval_on_selector_all(".exemplars mark.attending", "all => all.map(o => o.textContent)")
    page.click('[role=tab]:has-text("figures")')
    page.wait_for_selector("figure img")
    until(page, lambda: page.evaluate("document.querySelector('figure img').naturalWidth") == 90)
    assert page.query_selector("figure svg") is None
    page.click('[role=tab]:has-text("tables")')
    page.click('.table-list button:has(small:text-is("long"))')
    page.wait_for_selector('.one-table[data-table="long"] tbody tr')
    assert "first 2,000 of 2,500 rows" in page.inner_text(".one-table")
    assert "headscope table RUN long --csv" in page.inner_text(".one-table")
    page.click(".one-table .more")
    until(page, lambda: page.eval_on_selector_all(".one-table tbody tr", "all => all.length") == 2000)
    with page.expect_download() as waiting:
        page.click("button[name=csv]")
    pd.testing.assert_frame_equal(pd.read_csv(waiting.value.path()), load_run(plain)["long"].iloc[:2000])


def test_a_head_without_a_number_has_no_colour(plain: Path, open_file: Callable[..., Any]) -> None:
    page = open_file(plain / "report.html", "by=distance.distance")
    assert colours(page)["1.2"][1] is None
    page.hover('.square[data-head="1.2"]')
    until(page, lambda: "no number" in page.inner_text(".atlas .reading"))
    assert "counts jensen_shannon" in page.inner_text(".scatter")  # what this run lacks for a map


def test_differences_of_two_runs(two: Path, open_file: Callable[..., Any], screenshot: Callable[..., Path]) -> None:
    page = open_file(two)  # B − A without being asked: of the number that differs most
    until(page, lambda: page.locator(".square[data-value]").count() > 0)
    opened = page.input_value("select[name=by]"), page.input_value("select[name=run]")
    assert opened == ("distance.distance", "difference")
    assert "Blue is more in B than in A, orange is less." in page.inner_text(".atlas")
    titles = page.eval_on_selector_all(".part h2", "all => all.map(o => o.textContent)")
    assert titles == [
        "What differs between the two runs", "Atlas of heads", "Heads that look alike", "What was found in the first run",
    ]  # fmt: skip
    page.hover('.square[data-head="0.0"]')
    until(page, lambda: "+5 (A 1, B 6) (rank 1 of 5)" in page.inner_text(".atlas .reading"))
    screenshot(page, "report-two-runs")
    page.select_option("select[name=by]", "change")
    until(page, lambda: page.locator("select[name=run]").count() == 0)
    page = open_file(two, "by=entropy.entropy&run=difference")
    shown = colours(page)
    expected = {"0.0": 1.0, "0.1": 0.0, "0.2": -1.0, "1.0": 0.0, "1.1": -2.0, "1.2": 1.0}
    assert {head: value for head, (_, value) in shown.items()} == expected
    for head, (colour, value) in shown.items():
        np.testing.assert_allclose(colour, diverging(np.array(value / 2)), atol=2, err_msg=head)
    redrawn(page, ".atlas", lambda: page.select_option("select[name=run]", "other"))
    assert colours(page)["0.0"][1] == 1.5
    np.testing.assert_allclose(colours(page)["0.0"][0], sequential(np.array(1.5 / 2.5)), atol=2)  # one scale for both
    page.click('[role=tab]:has-text("tables")')
    page.click('.table-list button:has(small:text-is("entropy"))')
    page.wait_for_selector('[data-column="entropy_difference"]')
    for sort in ("descending", "ascending"):
        page.click('[data-column="entropy_difference"]')
        page.wait_for_selector(f'th[aria-sort="{sort}"] [data-column="entropy_difference"]')
    cells = page.eval_on_selector_all(".one-table tbody tr:first-child > *", "all => all.map(o => o.textContent)")
    assert cells == ["1.1", "2.500", "0.500", "-2"]


def test_the_other_runs_ring_is_on_its_line(two: Path, open_file: Callable[..., Any]) -> None:
    """Also where its number is beyond all of the first run: 6 tokens, where these have 1 to 5."""
    page = open_file(two, "head=0.0", width=1400)
    line = page.locator("tr[data-statistic='distance.distance'] .number-strip").bounding_box()
    ring = page.locator("tr[data-statistic='distance.distance'] .strip-second").bounding_box()
    assert line["x"] <= ring["x"]
    assert ring["x"] + ring["width"] <= line["x"] + line["width"]


def test_the_atlas_follows_a_head_of_another_attention(
    tmp_path: Path, open_file: Callable[..., Any], screenshot: Callable[..., Path]
) -> None:
    numbers = per_head([0.5, 1.0, 1.5, 2.0])
    both = pd.concat([numbers, numbers.assign(stack="decoder", kind="cross")])
    page = open_file(write_report(made_run(tmp_path / "run", entropy=both)), "by=entropy.entropy")
    assert list(colours(page)) == ["encoder 0.0", "encoder 0.1", "encoder 1.0", "encoder 1.1"]
    page.click('[role=tab]:has-text("tables")')
    page.click('.table-list button:has(small:text-is("entropy"))')
    page.click('.head-link:text-is("cross 1.0")')
    card_of(page, "cross 1.0")
    page.click('[role=tab]:has-text("heads")')
    page.wait_for_selector('.square[data-head="cross 1.0"][aria-selected=true]')
    assert page.input_value("select[name=attention]") == "decoder cross"
    screenshot(page, "report-cross")
