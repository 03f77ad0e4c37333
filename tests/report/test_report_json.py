"""Description: what the page says is what the tables say, cell by cell; and nothing else of the machine it was made on."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import TypeAdapter

from headscope.errors import InputError
from headscope.heads.clusters import embed
from headscope.lens.head import HEAD
from headscope.report import description, report_page, schema, write_report
from headscope.report.heads.cards import card_numbers
from headscope.report.heads.pictures import is_drawn
from headscope.report.league import with_statistics
from headscope.report.table_json import ROWS, described_table
from headscope.statistics.between_heads.jensen_shannon import distance_matrix
from headscope.statistics.columns import describe
from headscope.study import compare
from headscope.study.manifest import load_manifest, save_manifest
from tests.report.samples import SampleRun, every_run, made_run, per_head, recomputed


def as_frame(table: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(table["rows"], columns=[column["name"] for column in table["columns"]])


def same_cells(shown: dict[str, Any], frame: pd.DataFrame) -> None:
    assert shown["total"] == len(frame)
    frame = frame.iloc[:ROWS].reset_index(drop=True)
    found = as_frame(shown)
    assert list(found.columns) == [str(column) for column in frame.columns]
    for column in frame.columns:
        for one, other in zip(found[column], frame[column], strict=True):
            missing = other is None or other is pd.NA or other != other
            shown_as = str(other).rpartition("/")[2] if str(column).lower() == "source" else other  # of a path only its end
            assert (one is None or one != one) if missing else one in (shown_as, str(shown_as))


@every_run
def test_it_keeps_to_the_schema(name: str, sample_run: SampleRun) -> None:
    described = description(sample_run(name))
    assert TypeAdapter(schema.Report).validate_python(described, strict=True) == described  # nothing is more, nothing less


@every_run
def test_json_holds_it_and_every_table_is_there_cell_by_cell(name: str, sample_run: SampleRun) -> None:
    run = sample_run(name)
    described = json.loads(json.dumps(description(run), allow_nan=False))
    tables = {"roles": run.roles, **{name: run[name] for name in run if not is_drawn(name)}}
    assert [table["name"] for table in described["tables"]] == list(tables)
    for shown in described["tables"]:
        same_cells(shown, tables[shown["name"]])


@every_run
def test_every_number_of_every_finding_is_computed_again(name: str, sample_run: SampleRun) -> None:
    run = sample_run(name)
    numbers = [number for finding in description(run)["findings"] for number in finding["numbers"]]
    assert len(numbers) >= 3
    for number in numbers:
        assert number["value"] == pytest.approx(recomputed(number, run), rel=1e-6, abs=1e-9)


@every_run
def test_statistics_are_the_tables_head_by_head(name: str, sample_run: SampleRun) -> None:
    run, _ = with_statistics(sample_run(name))
    described = description(sample_run(name))
    assert len(described["statistics"]) >= 5
    for statistic in described["statistics"]:
        table, _, column = statistic["name"].partition(".")
        rows = run[table].dropna(subset=["layer", "head"]).set_index(HEAD)[column]
        for head, value in zip(described["heads"], statistic["values"], strict=True):
            place = (head["stack"], head["kind"], head["layer"], head["head"])
            expected = rows.get(place, math.nan)
            about = describe(table, column)
            if head["kind"] == "cross" and about is not None and about.positional:
                expected = math.nan  # places in two texts are not compared
            assert value == expected if expected == expected else value is None


@every_run
def test_numbers_of_the_cards_come_first_in_the_cards_order(name: str, sample_run: SampleRun) -> None:
    run, _ = with_statistics(sample_run(name))
    statistics = description(sample_run(name))["statistics"]
    on_cards = card_numbers(run)
    assert [statistic["name"] for statistic in statistics if statistic["card"]] == on_cards
    assert [statistic["name"] for statistic in statistics[: len(on_cards)]] == on_cards
    for statistic in statistics[: len(on_cards)]:
        values = [value for value in statistic["values"] if value is not None]
        assert min(values) < max(values)
        assert statistic["more"]


def test_the_map_of_heads_is_that_of_the_divergences(sample_run: SampleRun) -> None:
    run = sample_run("bert")
    described = description(run)
    (scatter,) = described["scatters"]
    labels, matrix = distance_matrix(run["jensen_shannon"])
    points = embed(matrix).points
    np.testing.assert_allclose(np.stack([scatter["x"], scatter["y"]], 1), points, atol=1e-5)
    names = [f"{row.layer}.{row.head}" for row in labels.itertuples()]
    assert [described["heads"][place]["label"] for place in scatter["heads"]] == names
    for place, near in enumerate(scatter["nearest"]):
        others = sorted((matrix[place, other], other) for other in range(len(matrix)) if other != place)
        assert [one["distance"] for one in near] == [distance for distance, _ in others[:3]]


def test_figures_are_the_files_and_never_markup_of_the_page(sample_run: SampleRun) -> None:
    run = sample_run("bert")
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    (run.folder / "figures").mkdir(exist_ok=True)
    (run.folder / "figures" / "mine.svg").write_text(svg)
    try:
        assert description(run)["figures"] == [{"name": "mine", "title": "mine", "svg": svg}]
        assert "<svg" not in report_page(run)
    finally:
        (run.folder / "figures" / "mine.svg").unlink()


def test_long_tables_are_cut_and_say_so_and_hashes_stay_whole() -> None:
    frame = pd.DataFrame({"document": np.arange(2500) + 2**62, "text": "a", "share": np.nan})
    shown = described_table("exemplars", frame, {})
    assert (len(shown["rows"]), shown["total"]) == (ROWS, 2500)
    assert shown["rows"][1] == [str(2**62 + 1), "a", None]
    assert [column["numeric"] for column in shown["columns"]] == [True, False, True]


def test_no_path_of_the_machine_is_told(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", entropy=per_head([0.1, 0.2, 0.3, 0.4]))
    written = report_page(run)
    assert "bert" in written
    assert "ann" not in written.partition('id="page">')[2].partition("</script>")[0]
    assert str(tmp_path) not in written


def test_texts_cannot_leave_their_place_in_the_page(tmp_path: Path) -> None:
    bad = "</script><script>alert(1)</script>"
    frame = per_head([0.1, 0.2], name="entropy").assign(note=bad)
    run = made_run(tmp_path / "run", entropy=frame, **{"odd": pd.DataFrame({bad: [1]})})
    assert "<script>alert" not in report_page(run, title=bad)


def test_two_runs_head_by_head(tmp_path: Path) -> None:
    one = made_run(tmp_path / "one", entropy=per_head([0.1, 0.2, 0.3, 0.4]), distance=per_head([1, 2, 3, 4], "distance"))
    two = made_run(tmp_path / "two", entropy=per_head([0.4, 0.2, 0.1, math.nan]))
    described = json.loads(json.dumps(description(one, two), allow_nan=False))
    assert TypeAdapter(schema.Report).validate_python(described, strict=True) == described
    assert [run["name"] for run in described["runs"]] == ["one", "two"]
    statistic, change = described["statistics"]  # only what both have, and how much each head changed
    assert (statistic["values"], statistic["other"]) == ([0.1, 0.2, 0.3, 0.4], [0.4, 0.2, 0.1, None])
    tables = {table["name"]: table for table in described["tables"]}
    same_cells(tables["entropy"], compare(one, two, "entropy"))
    assert [column["title"] for column in tables["entropy"]["columns"]][-3:] == [
        "Breadth of attention (entropy), A",
        "Breadth of attention (entropy), B",
        "Breadth of attention (entropy), B − A",
    ]
    assert tables["entropy"]["compared"]
    assert not tables["distance"]["compared"]
    assert ["0.0"] in [finding["heads"] for finding in described["compared"]]  # from 0.1 to 0.4: the largest difference
    assert described["title"] == "bert: one and two"
    assert described["state"] == "by=entropy.entropy&run=difference"
    deviation = np.std([0.1, 0.4, 0.2, 0.2, 0.3, 0.1])  # of the heads that have a number in both
    assert change["values"][:3] == pytest.approx([0.3 / deviation, 0, 0.2 / deviation])
    assert (change["name"], change["values"][3], "other" in change) == ("change", None, False)


def test_two_runs_open_at_the_number_that_differs_most(tmp_path: Path) -> None:
    one = made_run(tmp_path / "one", entropy=per_head([0.1, 0.2, 0.3, 0.4]), distance=per_head([1, 2, 3, 4], "distance"))
    two = made_run(tmp_path / "two", entropy=per_head([0.2, 0.2, 0.3, 0.4]), distance=per_head([4, 3, 2, 1], "distance"))
    assert description(one, two)["state"] == "by=distance.distance&run=difference"
    assert description(one)["state"] == description(one, one)["state"] == ""  # nothing differs: roles, as ever


def test_two_real_runs_beside_each_other(sample_run: SampleRun) -> None:
    run = sample_run("bert")
    described = json.loads(json.dumps(description(run, run), allow_nan=False))
    tables = {table["name"]: table for table in described["tables"]}
    assert tables["jensen_shannon"]["total"] == len(run["jensen_shannon"])  # pair by pair
    assert tables["jensen_shannon"]["compared"]
    for name in ("exemplars", "exemplars_readable"):  # texts of one head are not those of the other, rank by rank
        assert not tables[name]["compared"]
        same_cells(tables[name], run[name])
    *both, change = described["statistics"]
    for statistic in both:
        assert statistic["values"] == statistic["other"]
    assert set(change["values"]) == {0}
    assert all(head["other"]["role"] == head["role"] for head in described["heads"])


def test_what_cannot_be_reported_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run directory"):
        description(tmp_path)
    empty = made_run(tmp_path / "empty")
    with pytest.raises(InputError, match="has no tables, so there is nothing to report"):
        description(empty)
    save_manifest(empty, {**load_manifest(empty), "finished": False})
    with pytest.raises(InputError, match="is not finished, so there is nothing to report yet"):
        description(empty)


def test_models_of_two_shapes_are_not_put_side_by_side(tmp_path: Path) -> None:
    one = made_run(tmp_path / "one", entropy=per_head([0.1, 0.2]))
    two = made_run(tmp_path / "two", entropy=per_head([0.1, 0.2]).assign(stack="decoder"))
    with pytest.raises(InputError, match="have no head in common: make a report of each"):
        description(one, two)


def test_a_report_goes_beside_its_run_or_where_it_is_told(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", entropy=per_head([0.1, 0.2]))
    assert write_report(run) == run / "report.html"
    assert write_report(run, out=tmp_path / "a" / "b.html").read_text("utf-8").startswith("<!doctype html>")
    with pytest.raises(InputError, match=r"ends in \.html"):
        write_report(run, out=tmp_path / "report.pdf")
