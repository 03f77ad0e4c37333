"""The benchmarks run, in turn and to the end. How fast anything is, no test says."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.catalogue import BENCHMARKS, about
from benchmarks.large_study import large_study_memory
from benchmarks.page import page
from benchmarks.report import as_json, write
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from benchmarks.study_cost import long_text_peak
from benchmarks.timing import alternate, as_ratios

from tests import places

ROOT = places.ROOT


def test_things_are_timed_in_turn_after_one_round_of_warming_up() -> None:
    called: list[str] = []
    seconds = alternate({"a": lambda: called.append("a"), "b": lambda: called.append("b")}, repeats=2)
    assert called == ["a", "b"] * 3
    assert {name: len(taken) for name, taken in seconds.items()} == {"a": 2, "b": 2}


def test_ratios_are_taken_round_by_round_and_targets_are_about_them() -> None:
    # The machine gets ten times slower after the second round; the second thing takes twice as long throughout.
    targets = {"twice": Target("<=", 2.5), "thrice": Target("<=", 2.5)}
    seconds = {"plain": [1.0, 1.0, 10.0], "twice": [2.0, 20.0, 20.0], "thrice": [3.0, 3.0, 30.0]}
    rows = as_ratios(seconds, "plain", targets)
    assert [row.compared for row in rows] == [None, 2.0, 3.0]
    assert [row.met for row in rows] == [None, True, False]


def test_results_are_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "bench.json"
    write(path, json.dumps(as_json({"threads": 2}, {"repeats": 1}, {"one": 30.0}, {"one": [Row("a", [1.0, 3.0], "s")]})))
    assert json.loads(path.read_text())["results"]["one"][0]["median"] == 2.0
    assert list(path.parent.iterdir()) == [path]


def test_a_page_says_what_was_measured_and_whether_targets_were_met() -> None:
    rows = as_ratios({"plain": [1.0, 1.0], "ours": [1.5, 1.7]}, "plain", {"ours": Target("<=", 1.25)})
    said = page(as_json({"cores": 2}, {"repeats": 2}, {"study_speed": 738.4}, {"study_speed": rows}))
    assert "| ours | 1.60 s | 1.60 x | time of plain | <= 1.25 (missed) | 1.13 |" in said
    assert "cores 2; 2 rounds. The whole run took 12.3 minutes." in said
    assert "(It takes 738 s.)" in said
    assert about(BENCHMARKS["study_speed"]) in said


def test_the_page_in_the_docs_is_made_of_the_results_beside_it() -> None:
    results = ROOT / "docs" / "performance.json"
    assert page(json.loads(results.read_text("utf-8"))) == results.with_suffix(".md").read_text("utf-8")


@pytest.mark.parametrize("name", [name for name in BENCHMARKS if "memory" not in name])
def test_timed_benchmarks_run_on_tiny_shapes(name: str) -> None:
    rows = BENCHMARKS[name](Settings(repeats=1, quick=True))
    assert about(BENCHMARKS[name]).endswith(".")
    assert all(row.median > 0 for row in rows)


def test_a_long_text_of_a_memory_benchmark_is_one_that_statistics_can_count() -> None:
    assert long_text_peak(64).peak > 0


@pytest.mark.slow
def test_the_study_of_a_large_model_is_one_that_ends() -> None:
    model, whole = large_study_memory(Settings(repeats=1, quick=True))
    assert whole.compared == whole.median - model.median > 0


@pytest.mark.slow
def test_memory_benchmarks_run_from_the_command_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", "--quick", "--only", "lens_memory", "-o", str(tmp_path / "bench.json")]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert "Tiny shapes" in printed
    assert "lens_memory" in json.loads((tmp_path / "bench.json").read_text())["results"]
