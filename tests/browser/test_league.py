"""The league in a real Chromium: standings, scatter and curves against the tables; a point opens its head's card."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import headscope
from headscope.report import write_report
from headscope.study.run import Run
from tests.browser.waiting import fragment, until
from tests.lens.language_models import documents, lens_for

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("league") / "run"
    made = headscope.league(lens_for("gpt2"), documents("gpt2"), orders=3, tokens=2, curve_texts=3, out=out)
    write_report(made)
    return made


def page_of(run: Run) -> Path:
    return run.folder / "report.html"


def written(value: float) -> str:
    text = f"{abs(value):.2f}"
    return f"−{text}" if value < 0 and text != "0.00" else text


def standings(page: Any) -> list[list[str]]:
    rows = "all => all.map(row => [row.dataset.number, row.querySelector('.rho').textContent])"
    return list(page.eval_on_selector_all(".standings tbody tr", rows))


def test_standings_are_the_tables_best_first(run: Run, open_file: Open) -> None:
    page = open_file(page_of(run), width=1400, height=1000)
    table = run["league"].query("scope == 'all' and how == 'mean' and effect == 'kl'")
    expected = table.sort_values("rho", ascending=False, kind="stable", na_position="last")
    shown = standings(page)
    assert shown == [[row.number, "–" if row.rho != row.rho else written(row.rho)] for row in expected.itertuples()]
    page.select_option('select[name="without a head"]', "zero")
    page.select_option('select[name="what changes"]', "loss")
    table = run["league"].query("scope == 'all' and how == 'zero' and effect == 'loss'").set_index("number")["rho"]
    until(page, lambda: dict(standings(page)) == {name: written(rho) for name, rho in table.dropna().items()})
    assert "how=zero" in fragment(page)


def test_a_point_is_a_head_and_opens_its_card(run: Run, open_file: Open) -> None:
    page = open_file(page_of(run), "part=league&number=entropy", width=1400, height=1000)
    page.wait_for_selector(".against .point")
    heads = (
        run["league_heads"]
        .query("how == 'mean'")
        .assign(label=lambda of: of["layer"].astype(str) + "." + of["head"].astype(str))
    )
    points = page.eval_on_selector_all(
        ".against .point", "all => all.map(p => [p.dataset.head, +p.getAttribute('cx'), +p.getAttribute('cy')])"
    )
    assert [label for label, *_ in points] == heads.sort_values("entropy", kind="stable")["label"].tolist()
    up = [label for label, *_ in sorted(points, key=lambda point: -point[2])]
    assert up == heads.sort_values("kl")["label"].tolist()
    label = points[5][0]
    page.click(f'.against .point[data-head="{label}"]')
    page.wait_for_selector(f'.card-panel[data-card="{label}"]')
    loss = heads.set_index("label").loc[label, "loss"]
    assert f"the loss {'rises' if loss >= 0 else 'falls'}" in page.text_content(".card-panel .without-it")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector(f'.card-panel[data-card="{points[6][0]}"]')


def test_a_click_on_a_number_draws_it_everywhere(run: Run, open_file: Open) -> None:
    page = open_file(page_of(run), width=1400, height=1000)
    page.click('.standings tr[data-number="value_norm"] button')
    until(page, lambda: "number=value_norm" in fragment(page))
    assert page.input_value('.against select[name="number"]') == "value_norm"
    share = run["league_orders"].set_index("order").loc["value_norm", "against_random"]
    assert f"{share:.2f} of that of random orders" in page.text_content(".curves .reading")
    assert page.query_selector(".curves .band") is not None
    drawn = page.eval_on_selector_all(".curves .curve-room", "all => all.map(one => one.dataset.number)")
    orders = [name for name in run["league_orders"]["order"] if not name.startswith(("effect", "random"))]
    assert sorted(drawn) == sorted(orders)


def test_tokens_and_idle_heads(run: Run, open_file: Open) -> None:
    page = open_file(page_of(run), width=1400, height=1000)
    page.wait_for_selector(".tokens-league")
    tokens = run["league_tokens"]
    rows = page.eval_on_selector_all(".tokens-league tbody tr", "all => all.map(r => r.querySelector('.rho').textContent)")
    assert sorted(rows) == sorted(written(rho) for rho in tokens.loc[tokens["layer"].isna(), "rho"])
    first = run["league_idle"].iloc[0]
    page.click(".idle tbody .head-link")
    page.wait_for_selector(f'.card-panel[data-card="{first["layer"]}.{first["head"]}"]')


def test_models_side_by_side(tmp_path: Path, open_file: Open) -> None:
    lenses = [lens_for("gpt2"), lens_for("llama")]
    run = headscope.league(lenses, documents("gpt2"), how="zero", curves=False, out=tmp_path / "run")
    page = open_file(run.report(), width=1200, height=900)
    table = run["league_models"].set_index("number")
    cells = page.eval_on_selector_all(
        ".models tbody tr",
        "all => all.map(r => [r.dataset.number, ...[...r.querySelectorAll('td')].map(c => c.textContent)])",
    )
    assert {row[0] for row in cells} == set(table.index)
    for number, *shown in cells:
        for text, lens in zip(shown, lenses, strict=True):
            rho, within = table.loc[number, lens.name], table.loc[number, f"{lens.name}, within layers"]
            assert text == (
                "–" if rho != rho else f"{written(rho)} ({written(within)})" if within == within else written(rho)
            )
    assert page.text_content("[role=tab]") == "league"
