"""The league's part of a report: its numbers are those of the run's tables, and every head has them on its card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headscope
from headscope.league.numbers import BY_WAY, NUMBERS
from headscope.lens import Head
from headscope.report import description
from headscope.study.run import Run
from tests.lens.language_models import documents, lens_for
from tests.report.samples import made_run, per_head


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("league") / "run"
    return headscope.league(lens_for("gpt2"), documents("gpt2"), exact=9, orders=1, out=out)


@pytest.fixture(scope="module")
def described(run: Run) -> dict[str, Any]:
    found: Any = description(run)
    return dict(found)


def test_every_number_and_effect_is_a_statistic_of_the_page(run: Run, described: dict[str, Any]) -> None:
    """Under the names that web/src/league/records.ts looks for."""
    names = [head["name"] for head in described["heads"]]
    statistics = {one["name"]: one["values"] for one in described["statistics"]}
    heads = run["league_heads"]
    counted = 0
    for way, some in heads.groupby("how"):
        rows = {Head.of(row).name: row for row in some.to_dict("records")}
        for column in ("kl", "loss", *(name for name in NUMBERS if name in heads)):
            table = f"league_effects_{way}" if column in ("kl", "loss", *BY_WAY) else "league_numbers"
            expected = [rows[name][column] if name in rows else None for name in names]
            assert statistics[f"{table}.{column}"] == expected
            counted += sum(value is not None for value in expected)
    assert counted == 2 * 9 * (2 + len(described["league"]["numbers"]))
    assert len(names) == 12, "heads that were not drawn have cards too"


def test_what_it_says_and_what_is_chosen_from(run: Run, described: dict[str, Any]) -> None:
    league, table = described["league"], run["league"]
    assert [number["name"] for number in league["numbers"]] == [name for name in NUMBERS if name in set(table["number"])]
    assert {way["name"] for way in league["ways"]} == {"zero", "mean"}
    assert (league["way"], league["effect"]) == ("mean", "kl")
    assert league["said"] == [{"model": run.manifest["model"]["name"], "sentences": run.manifest["findings"]}]
    assert described["state"] == "part=league"


def test_a_card_says_what_happens_without_its_head(run: Run, described: dict[str, Any]) -> None:
    rows = run["league_heads"].query("how == 'mean'")
    losses = {Head.of(row).name: row["loss"] for row in rows.to_dict("records")}
    said = {head["name"]: head["without"] for head in described["heads"]}
    assert {name for name, without in said.items() if without} == set(losses)
    for name, loss in losses.items():
        (sentence,) = said[name]["says"]
        assert f"the loss {'rises' if loss >= 0 else 'falls'} by" in sentence
    on_cards = {one["name"] for one in described["statistics"] if one["card"]}
    assert {"league_effects_mean.kl", "league_effects_zero.kl", "league_numbers.stretch"} <= on_cards
    assert "league_numbers.entropy" not in on_cards, "the study's own entropy is there"
    assert any(name.startswith("entropy.") for name in on_cards)


def test_models_side_by_side_have_a_page(tmp_path: Path) -> None:
    lenses = [lens_for("llama"), lens_for("gpt2")]
    run = headscope.league(lenses, documents("gpt2"), how="zero", curves=False, out=tmp_path / "run")
    described = description(headscope.load_run(run.folder))
    assert described["heads"] == []
    assert described["league"] is not None
    assert [said["model"] for said in described["league"]["said"]] == [lens.name for lens in lenses]
    (table,) = (table for table in described["tables"] if table["name"] == "league")
    assert len(table["rows"] or []) == len(run["league"])
    assert run.report().is_file()


def test_another_run_has_no_such_part(tmp_path: Path) -> None:
    described = description(made_run(tmp_path / "run", entropy=per_head([0.5, 1.0])))
    assert described["league"] is None
    assert described["state"] == ""
    assert np.isfinite(described["statistics"][0]["values"][0] or 0)
