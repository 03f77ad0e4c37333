"""`headscope report`: where it writes, what it says, and errors of one sentence with exit code 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headscope.study import load_run
from headscope.study.manifest import load_manifest, save_manifest
from tests.cli.test_commands import run
from tests.papers.samples import save_tiny
from tests.report.samples import made_run, per_head


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made_run(tmp_path / "run", entropy=per_head([0.1, 0.2, 0.3, 0.4]))


def test_a_page_beside_the_run(monkeypatch, capsys, folder: Path) -> None:
    code, out, _ = run(monkeypatch, capsys, "report", folder)
    assert code == 0
    assert f"Written: {folder / 'report.html'}" in out
    assert "it needs no network" in out
    assert (folder / "report.html").read_text("utf-8").startswith("<!doctype html>")


def test_where_it_is_told_as_json_and_of_two_runs(monkeypatch, capsys, folder: Path, tmp_path: Path) -> None:
    other = made_run(tmp_path / "other", entropy=per_head([0.4, 0.3, 0.2, 0.1]))
    page = tmp_path / "both.html"
    code, out, _ = run(monkeypatch, capsys, "report", folder, other, "-o", page, "--title", "Two <runs>", "--json")
    said = json.loads(out)
    assert (code, said["file"], said["runs"]) == (0, str(page), [str(folder), str(other)])
    assert said["bytes"] == page.stat().st_size
    assert "<title>Two &lt;runs&gt; · headscope</title>" in page.read_text("utf-8")


def described(page: Path) -> dict[str, Any]:
    """What a page carries."""
    found: dict[str, Any] = json.loads(page.read_text("utf-8").partition('id="page">')[2].partition("</script>")[0])
    return found


def test_what_is_lost_without_each_head(monkeypatch, capsys, folder: Path, tmp_path: Path) -> None:
    losses = per_head([0.5, 0.1, 0.1, 0.2], "loss").assign(how="mean", kl=[0.4, 0.1, 0.1, 0.1])
    losses = losses.assign(loss_others=[0.1, 0.5, 0.2, 0.1], loss_others_deviation=0.0)
    ablated = made_run(tmp_path / "ablated", ablation=losses)
    code, _, _ = run(monkeypatch, capsys, "report", folder, "--ablation", ablated)
    assert code == 0
    assert "the loss rises by 0.50 nats a token (other heads of its layer 0.10" in (folder / "report.html").read_text(
        "utf-8"
    )
    titles = [statistic["title"] for statistic in described(folder / "report.html")["statistics"]]
    assert {"Without it, KL", "Without it, change of the loss"} <= set(titles), "as the atlas and the cards call them"
    assert "ablation" not in load_run(folder), "the run stays as it was"
    code, _, err = run(monkeypatch, capsys, "report", folder, "--ablation", folder)
    assert (code, err.count("\n")) == (2, 1)
    assert "has no table ablation: make it with headscope ablate" in err
    manifest = load_manifest(ablated)
    save_manifest(ablated, {**manifest, "model": {**manifest["model"], "hashes": {"x": "y"}}})
    code, _, err = run(monkeypatch, capsys, "report", folder, "--ablation", ablated)
    assert code == 2
    assert "which is another model" in err


def test_what_is_no_run_or_unfinished_is_one_sentence(monkeypatch, capsys, folder: Path, tmp_path: Path) -> None:
    for path, said in ((tmp_path / "nowhere", "is not a run directory"), (folder, "is not finished")):
        if path == folder:
            save_manifest(folder, {**load_manifest(folder), "finished": False})
        code, out, err = run(monkeypatch, capsys, "report", path)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err
    assert not (folder / "report.html").exists()


def test_tables_that_are_missing_are_one_sentence(monkeypatch, capsys, tmp_path: Path) -> None:
    code, _, err = run(monkeypatch, capsys, "report", made_run(tmp_path / "empty"))
    assert (code, err.count("\n")) == (2, 1)
    assert "has no tables" in err


def test_a_study_can_end_with_its_report(monkeypatch, capsys, tmp_path: Path) -> None:
    model = save_tiny(tmp_path / "model", "llama")
    (tmp_path / "text.txt").write_text("the cat sat on the mat\na dog ran to the cat\n")
    code, said, _ = run(
        monkeypatch, capsys, "study", model, tmp_path / "text.txt", "-o", tmp_path / "run", "--report", "--json"
    )
    assert code == 0
    told = json.loads(said)
    assert Path(told["report"]).read_text().startswith("<!doctype html>")
    assert {"beyond_sinks", "beyond_sinks_norm", "jensen_shannon", "exemplars_readable", "repeats"} <= set(told["tables"])
    code, out, _ = run(monkeypatch, capsys, "exemplars", tmp_path / "run", "0.1")
    assert code == 0
    row = load_run(tmp_path / "run")["exemplars_readable"].query("layer == 0 and head == 1").iloc[0]
    assert f"0.1  {row['score']:.3f}" in out
    assert f"**{row['attending']}**" in out
    code, _, err = run(monkeypatch, capsys, "exemplars", tmp_path / "run", "0.1", "--table", "entropy")
    assert (code, "no exemplars in entropy: they are in exemplars_readable" in err) == (2, True)
