"""The same command again: what is wrong is said before a model is opened, and nothing is made twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from headscope.lens import ModelSource
from headscope.study.results import figures
from headscope.study.results.made import NAME, content_of
from headscope.study.results.workspace import Workspace
from tests.papers.samples import run_command, save_tiny

NO_MODEL = "./no/such/model"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def first(model: Path, data: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    out = tmp_path_factory.mktemp("run") / "run"
    with pytest.MonkeyPatch.context() as patch:
        from headscope.cli import main

        patch.setattr("sys.argv", ["headscope", *map(str, command(model, data, out))])
        with pytest.raises(SystemExit) as left:
            main()
    assert left.value.code in (0, None)
    return out


@pytest.fixture
def finished(first: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(first, tmp_path / "run"))


def command(model: Path | str, data: dict[str, Path], out: Path, *more: object) -> tuple[object, ...]:
    return ("paper", "clark2019", model, "--text", data["text"], "-o", out, "--json", *more)


def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models that are opened from now on."""
    found: list[str] = []
    really = ModelSource.open
    monkeypatch.setattr(ModelSource, "open", lambda source: (found.append(source.name), really(source))[1])
    return found


def times(run: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in (run / "figures").iterdir()}


def test_nothing_is_opened_or_written_where_nothing_has_changed(monkeypatch, capsys, model, data, finished: Path) -> None:
    models, before = opened(monkeypatch), {file: file.stat().st_mtime_ns for file in finished.rglob("*")}
    code, out, err = run_command(monkeypatch, capsys, *command(model, data, finished))
    assert code == 0, err
    assert "clark2019_fig2" in json.loads(out)["results"]
    assert models == []
    assert {file: file.stat().st_mtime_ns for file in finished.rglob("*")} == before


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_text("no figure")], ids=["deleted", "damaged"])
def test_what_is_missing_is_drawn_and_nothing_else(monkeypatch, capsys, model, data, finished: Path, damage) -> None:
    lost = finished / "figures" / "clark2019_fig2.svg"
    content, before = lost.read_bytes(), times(finished)
    damage(lost)
    assert run_command(monkeypatch, capsys, *command(model, data, finished))[0] == 0
    assert lost.read_bytes() == content
    after = times(finished)
    assert {name for name in before if before[name] != after[name]} == {"clark2019_fig2.svg", "clark2019_fig2.pdf"}


def test_more_data_draws_what_is_new(monkeypatch, capsys, model, data, finished: Path) -> None:
    before = times(finished)
    more = ("--treebank", data["treebank"], "--no-twin")
    code, _, err = run_command(monkeypatch, capsys, *command(model, data, finished, *more))
    assert (code, "twin was true and is false" in err) == (2, True)
    more = ("--coreference", data["coreference"])
    assert run_command(monkeypatch, capsys, *command(model, data, finished, *more))[0] == 0
    after = times(finished)
    unchanged = {name for name in before if before[name] == after[name]}
    assert {f"clark2019_{name}.svg" for name in ("fig1", "fig1_maps", "fig2", "fig4")} <= unchanged
    assert "clark2019_table2" in json.loads((finished / "manifest.json").read_text())["results"]


def test_a_changed_model_or_text_is_noticed(monkeypatch, capsys, model, data, finished: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(model, tmp_path / "other"))
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "layer_norm_eps": 1e-6}))
    models = opened(monkeypatch)
    code, _, err = run_command(monkeypatch, capsys, *command(other, data, finished))
    assert (code, "begun with another model: hashes.config.json was" in err, models) == (2, True, [])
    longer = tmp_path / "longer.txt"
    longer.write_text(data["text"].read_text() + "\nOne more cat sat on the mat .\n")
    code, _, err = run_command(monkeypatch, capsys, *command(model, {**data, "text": longer}, finished))
    assert (code, "begun with another corpus: text was" in err, models) == (2, True, [])


def test_what_is_refused_leaves_a_run_as_it_was(monkeypatch, capsys, model, data, finished: Path, tmp_path: Path) -> None:
    before = {file: file.read_bytes() for file in finished.rglob("*") if file.is_file()}
    models = opened(monkeypatch)
    code, _, err = run_command(monkeypatch, capsys, *command(model, data, finished, "--batch-size", 3))
    assert (code, "begun with another setting: batch_size was 16 and is 3" in err, models) == (2, True, [])
    other = {**data, "text": data["treebank"]}
    assert run_command(monkeypatch, capsys, *command(model, other, finished, "--text-format", "lines"))[0] == 2
    assert {file: file.read_bytes() for file in finished.rglob("*") if file.is_file()} == before


def test_a_run_that_was_interrupted_when_it_was_made_again_is_finished(monkeypatch, capsys, model, data, finished) -> None:
    """Its files are all as they were, but its manifest says no more what is in it."""
    whole = (finished / "manifest.json").read_bytes()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Workspace, "add", killed)
        more = ("--coreference", data["coreference"])
        assert run_command(patch, capsys, *command(model, data, finished, *more))[0] != 0
    assert json.loads((finished / "manifest.json").read_text())["finished"] is False
    code, _, err = run_command(monkeypatch, capsys, *command(model, data, finished))
    assert code == 0, err
    known, again = json.loads(whole), json.loads((finished / "manifest.json").read_bytes())
    assert again.pop("corpora").keys() == {"text", "coreference"}
    assert again == {name: value for name, value in known.items() if name != "corpora"}


def test_a_changed_setting_is_refused_before_the_model_is_opened(monkeypatch, capsys, data, finished: Path) -> None:
    code, _, err = run_command(monkeypatch, capsys, *command(NO_MODEL, data, finished, "--seed", 1))
    assert (code, "begun with another setting: seed was 0 and is 1" in err) == (2, True)
    code, _, err = run_command(monkeypatch, capsys, *command(NO_MODEL, data, finished, "--set", "clitics=no"))
    assert (code, "begun with another setting: clitics was true and is false" in err) == (2, True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["clark2019", "--text", "nowhere.txt"], "nowhere.txt"),
        (["clark2019", "--treebank", "TREEBANK", "--vectors", "nowhere.txt"], "There is no file nowhere.txt"),
        (["clark2019", "--treebank", "TREEBANK", "-m", "nrom"], "no measure 'nrom'"),
        (["vig2019", "--treebank", "TREEBANK", "--level", "letter"], "not in letters"),
        (["vig2019", "--treebank", "TREEBANK", "--set", "baseline=mine"], "baseline="),
        (["kobayashi2020", "--text", "TEXT", "--frequency", "nowhere.txt"], "There is no file nowhere.txt"),
        (["kobayashi2020", "--text", "TEXT", "--category", "numbers=/[/"], "numbers"),
    ],
)
def test_what_is_wrong_is_said_before_the_model_is_opened(monkeypatch, capsys, data, tmp_path: Path, given, said) -> None:
    named = {"TREEBANK": data["treebank"], "TEXT": data["text"]}
    paper, *rest = (named.get(part, part) for part in given)
    code, _, err = run_command(monkeypatch, capsys, "paper", paper, NO_MODEL, *rest, "-o", tmp_path / "run")
    assert code == 2
    assert said in err
    assert NO_MODEL not in err
    assert err.count("\n") == 1


def test_the_content_of_a_figure_is_what_it_shows() -> None:
    def drawn(title: str, heights: list[float]) -> str:
        made, axes = figures.figure(1, 2)
        axes[0, 0].bar([0, 1], heights)
        axes[0, 1].scatter([0, 1], heights)
        axes[0, 1].imshow([heights])
        axes[0, 0].set_title(title)
        return content_of(made)

    assert drawn("a", [1, 2]) == drawn("a", [1, 2])
    assert len({drawn("a", [1, 2]), drawn("b", [1, 2]), drawn("a", [1, 2.5])}) == 3


def test_what_is_known_of_a_run_is_written_whole(finished: Path) -> None:
    known = json.loads((finished / NAME).read_text())
    assert {"clark2019.md", "tables/clark2019_fig2.parquet", "figures/clark2019_fig2.pdf"} <= known["files"].keys()
