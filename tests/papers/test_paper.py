"""A paper of one's own: what it reads, what changes its numbers and its sections make a run and a command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from headscope.cli.paper import _command
from headscope.cli.paper import paper as commands
from headscope.errors import InputError
from headscope.papers import PAPERS
from headscope.papers.options import OPTION, TEXT_FORMAT, UNIT, option, segments, trees
from headscope.papers.paper import Paper, Section
from headscope.statistics import Entropy, setting
from headscope.statistics.registry import rules_of
from headscope.study.results.result import Claim, Result
from headscope.study.results.workspace import Unsuitable
from headscope.text import Corpus
from tests.papers.samples import save_tiny
from tests.statistics.tester import lens_for


@dataclass(frozen=True)
class Data:
    text: Corpus | None = option(None, "A text.", made=segments, text_format=TEXT_FORMAT)
    treebank: Corpus | None = option(None, "A treebank.", made=trees, unit=UNIT)


@dataclass(frozen=True)
class Settings:
    measure: str = option("weight", "weight or norm.", "-m", "--measure")
    most: int = option(3, "Texts at the most.", least=1)
    hidden: int = 7
    sentences: int | None = setting(None, least=1, help="Sentences at the most.")
    strict: bool = setting(True, help="Whether to be strict.")


class Ours(Paper[Data, Settings]):
    """Ours, in a sentence."""

    name, title, model = "ours", "A paper of our own", "no model"
    data_type, settings_type = Data, Settings
    examples = ("headscope paper ours bert -o run",)

    def figure1(self) -> list[Result]:
        assert self.data.text is not None
        statistic = Entropy(measure=self.settings.measure)
        counted = self.study("text", self.data.text.take(self.settings.most), [statistic])
        return [Result("ours_fig1", "Figure 1", counted[statistic])]

    def figure2(self) -> list[Result]:
        raise Unsuitable("this model is too small.")

    sections = (
        Section("Figure 1", ["text"], figure1),
        Section("Figure 2", ["text", "treebank"], figure2),
        Section("Table 1", ["treebank"], figure1),
        Section("Table 2", ["treebank"], figure1),
    )

    def claims(self) -> list[Claim]:
        return [Claim("1", "heads", "many", str(self.settings.most))]

    def opening(self, claims: Sequence[Claim]) -> list[str]:
        return [f"{len(claims)} claim."]


def test_sections_are_made_or_left_out_and_both_is_said(data: dict[str, Path], tmp_path: Path) -> None:
    given = Data(text=Corpus.from_files(data["text"], format="paragraphs"))
    run = Ours.run(lens_for("bert"), given, Settings(most=2), out=tmp_path / "run")
    assert set(run.manifest["results"]) == {"ours_fig1", "ours_claims"}
    assert run.manifest["kind"] == "ours"
    settings = {"batch_size": 16, "hidden": 7, "strict": True}
    assert run.manifest["settings"] == {**settings, "measure": "weight", "most": 2, "sentences": None}
    assert run.manifest["left_out"] == [
        "Figure 2: this model is too small.",
        "Table 1, Table 2: there is no data (--treebank).",
    ]
    assert run["ours_claims"]["run"].tolist() == ["2"]
    assert run.parts["text"].manifest["corpus"]["documents"] == 2
    assert "entropy" in run.tables
    page = (run.folder / "ours.md").read_text()
    assert all(said in page for said in ("# A paper of our own", "1 claim.", "## Figure 1", "there is no data (--treebank)"))


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give at least one of --text and --treebank"):
        Ours.run(lens_for("bert"), Data(), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer()
    made.command("ours")(_command(Ours))
    return made


def test_the_command_is_made_of_the_fields(app: typer.Typer) -> None:
    told = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "160", "TERM": "dumb"}).output
    for part in ("Ours, in a sentence.", "headscope paper ours bert", "--text", "--text-format", "--treebank", "--most"):
        assert part in told
    assert "-m" in told
    assert "--hidden" not in told  # it has no option


def test_the_command_makes_data_and_settings(app: typer.Typer, data: dict[str, Path], tmp_path: Path) -> None:
    model = save_tiny(tmp_path / "model")
    arguments = [str(model), "--text", str(data["text"]), "--most", "1", "-m", "norm", "-o", str(tmp_path / "run"), "--json"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["results"] == ["ours_fig1", "ours_claims"]
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    settings = {"batch_size": 16, "hidden": 7, "strict": True}
    assert manifest["settings"] == {**settings, "measure": "norm", "most": 1, "sentences": None}
    assert CliRunner().invoke(app, [*arguments[:-1], "--most", "0"]).exit_code == 2


def test_settings_without_a_flag_are_set_by_text(app: typer.Typer, data: dict[str, Path], tmp_path: Path) -> None:
    model = save_tiny(tmp_path / "model")
    arguments = [str(model), "--text", str(data["text"]), "-o", str(tmp_path / "run"), "--json"]
    done = CliRunner().invoke(app, [*arguments, "--set", "strict=no", "--set", "sentences=4"])
    assert done.exit_code == 0, done.output
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    settings = {"batch_size": 16, "hidden": 7, "strict": False}
    assert manifest["settings"] == {**settings, "measure": "weight", "most": 3, "sentences": 4}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("strct=no", "ours has no setting 'strct': did you mean strict? It has sentences, strict."),
        ("hidden=3", "ours has no setting 'hidden': it has sentences, strict."),
        ("strict=maybe", "--set strict is true or false, not 'maybe'."),
        ("sentences=few", "--set sentences is none or a whole number, not 'few'."),
        ("sentences=0", "ours takes sentences=1 or more, not 0."),
        ("most=2", "--set most has a flag of its own: give --most."),
        ("strict", "--set 'strict' is not NAME=VALUE; --help lists what can be set."),
    ],
)
def test_a_setting_that_is_none_is_one_sentence_before_the_model_is_opened(
    app: typer.Typer, data: dict[str, Path], tmp_path: Path, given: str, said: str
) -> None:
    no_model = tmp_path / "nothing"
    done = CliRunner().invoke(app, [str(no_model), "--text", str(data["text"]), "-o", str(tmp_path / "run"), "--set", given])
    assert isinstance(done.exception, InputError)
    assert str(done.exception) == said


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_setting_of_a_paper_is_on_its_command_line(paper: type[Paper]) -> None:
    told = " ".join(CliRunner().invoke(commands, [paper.name, "--help"]).output.split())
    for one in fields(paper.settings_type):
        if OPTION in one.metadata:
            continue
        assert rules_of(one).help, f"{one.name} says nothing of itself: setting(..., help=)"
        assert f"{one.name}=" in told
        assert rules_of(one).help in told


def test_every_paper_says_what_it_is() -> None:
    for paper in PAPERS:
        assert paper.__doc__
        assert paper.title
        assert paper.examples
        needed = {name for section in paper.sections for name in section.needs}
        assert needed <= set(paper.data_type.__dataclass_fields__)
