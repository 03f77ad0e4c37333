"""A run as an object: its tables by name and by statistic, its parts, its corpus; each thing is loaded or made once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import headscope
from headscope.errors import InputError
from headscope.lens.head import Head
from headscope.statistics import Distance, Entropy
from headscope.study import compare
from headscope.study import run as run_module
from headscope.study.manifest import load_manifest, save_manifest
from headscope.study.run import Run
from headscope.study.run_by_head import RunByHead
from tests.report.samples import made_run, per_head
from tests.statistics.tester import lens_for

STATISTICS = [Entropy(), Entropy(measure="norm"), Distance()]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    path.write_text("the cat sat on the mat\na dog ran to the cat\n")
    return path


@pytest.fixture(scope="module")
def folder(corpus: Path) -> Path:
    return headscope.study(lens_for("bert"), corpus, STATISTICS, out=corpus.parent / "run").folder


@pytest.fixture
def run(folder: Path) -> Run:
    return headscope.load_run(folder)


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each table is read from disk, by name; and how often numbers are looked up by head and roles are given."""
    counted: Counter[str] = Counter()
    read, by_head, roles = run_module.read_table, RunByHead.__init__, run_module.UPSTAIRS.roles

    def read_table(folder: Path, name: str) -> pd.DataFrame:
        counted[name] += 1
        return read(folder, name)

    def count_by_head(self: RunByHead, tables: dict[str, pd.DataFrame]) -> None:
        counted["by head"] += 1
        by_head(self, tables)

    def count_roles(run: Run) -> pd.DataFrame:
        counted["roles"] += 1
        return roles(run)

    monkeypatch.setattr(run_module, "read_table", read_table)
    monkeypatch.setattr(RunByHead, "__init__", count_by_head)
    monkeypatch.setattr(run_module.UPSTAIRS, "roles", count_roles)
    return counted


def test_tables_by_name_and_by_statistic(run: Run, folder: Path) -> None:
    assert run.tables == list(run) == ["distance", "entropy", "entropy_norm"]
    pd.testing.assert_frame_equal(run["entropy_norm"], pd.read_parquet(folder / "tables" / "entropy_norm.parquet"))
    pd.testing.assert_frame_equal(run[Entropy(measure="norm")], run["entropy_norm"])
    assert run.get("offsets") is None
    with pytest.raises(InputError, match="has no table 'offsets': it has distance, entropy, entropy_norm"):
        run["offsets"]


def test_a_column_that_is_added_to_a_table_stays_outside(run: Run) -> None:
    table = run["entropy"]
    table["mine"] = 1
    assert "mine" not in run["entropy"]


def test_heads_are_those_of_the_model(run: Run) -> None:
    sites = lens_for("bert").sites
    assert run.heads == [Head(site.stack, site.kind, site.layer, head) for site in sites for head in range(site.heads)]


def test_a_report_loads_every_table_once_and_judges_heads_once(run: Run, loads: Counter[str], tmp_path: Path) -> None:
    run.report(tmp_path / "report.html")
    assert loads == Counter(dict.fromkeys([*run.tables, "by head", "roles"], 1))


def test_a_report_on_two_runs_loads_both_once(folder: Path, loads: Counter[str], tmp_path: Path) -> None:
    run, other = headscope.load_run(folder), headscope.load_run(folder)
    run.report(tmp_path / "report.html", other)
    assert {loads[name] for name in run.tables} == {2}
    assert loads["roles"] == 4  # of each run, and of what both have counted


def test_a_table_that_is_added_is_there_and_counts(tmp_path: Path) -> None:
    run = Run.open(made_run(tmp_path / "run", entropy=per_head([0.1, 0.2])))
    assert len(run.heads) == len(run.roles) == 2
    run.add("distance", per_head([1.0, 2.0, 3.0], "distance"))
    assert (len(run.heads), len(run.roles)) == (3, 3)
    assert Run.open(run.folder).tables == run.tables == ["distance", "entropy"]


def test_the_documents_are_found_again(run: Run, corpus: Path) -> None:
    assert [document.text for document in run.corpus()] == corpus.read_text().splitlines()


@pytest.mark.parametrize(
    ("described", "why"),
    [
        (None, "says of no corpus"),
        ({"fingerprint": "x"}, "given from Python"),
        ({"fingerprint": "x", "paths": ["/nowhere/wiki.txt"]}, r"^wiki\.txt of this run's corpus is no longer where it was"),
    ],
)
def test_documents_that_cannot_be_found_again(described: dict[str, object] | None, why: str) -> None:
    with pytest.raises(InputError, match=why):
        Run.of({}, {} if described is None else {"corpus": described}).corpus()


def test_a_papers_run_has_the_studies_that_it_is_made_of(folder: Path, tmp_path: Path) -> None:
    paper = Run.open(made_run(tmp_path / "run", entropy=per_head([0.1, 0.2])))
    part = tmp_path / "run" / "parts" / "text"
    part.parent.mkdir()
    part.symlink_to(folder)
    assert list(paper.parts) == ["text"]
    assert paper.parts["text"].tables == ["distance", "entropy", "entropy_norm"]
    assert [document.text for document in paper.corpus()] == [document.text for document in Run.open(folder).corpus()]
    assert paper.facts["Corpus"] == "2 documents of text.txt (lines)"


def test_two_runs_side_by_side(tmp_path: Path) -> None:
    one = Run.open(made_run(tmp_path / "one", entropy=per_head([0.1, 0.2])))
    other = made_run(tmp_path / "other", entropy=per_head([0.5, 0.3]))
    found = one.compare(other, "entropy")
    np.testing.assert_allclose(found["entropy_difference"], [0.4, 0.1])
    pd.testing.assert_frame_equal(compare(tmp_path / "one", other, "entropy"), found)


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run directory"):
        headscope.load_run(tmp_path)


def test_numbers_that_json_cannot_hold_are_no_numbers_of_a_head() -> None:
    (statistic,) = Run.of({"ratio": per_head([0.5, np.inf, np.nan], "ratio")}).head_statistics
    assert statistic.values == {"encoder self 0.0": 0.5}


@pytest.mark.parametrize(
    ("kind", "title"), [("study", "bert"), ("clark2019", "bert, clark2019"), ("align", "bert, word alignments")]
)
def test_titles(kind: str, title: str, tmp_path: Path) -> None:
    folder = made_run(tmp_path / "run")
    save_manifest(folder, {**load_manifest(folder), "kind": kind})
    assert Run.open(folder).title == title
