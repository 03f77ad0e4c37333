"""What commands read: treebanks with coreference, units, forms that are none, and advice that exists where it is given."""

from __future__ import annotations

from pathlib import Path

import pytest

import headscope
from tests.papers.samples import run_command, save_tiny
from tests.text.samples import COREFUD


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("model"))


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "coref.conllu"
    path.write_text(COREFUD)
    return path


@pytest.mark.parametrize(("unit", "documents"), [((), 2), (("--unit", "document"), 2), (("--unit", "sentence"), 4)])
def test_a_study_of_mentions_reads_documents(unit, documents: int, monkeypatch, capsys, model, treebank, tmp_path) -> None:
    command = ("study", model, treebank, "-s", "antecedents", *unit, "-o", tmp_path / "run")
    code, _, err = run_command(monkeypatch, capsys, *command)
    assert code == 0, err
    run = headscope.load_run(tmp_path / "run")
    assert run.manifest["corpus"]["documents"] == documents
    cases = run["antecedents"]["cases_all"].max()
    assert cases == (0 if "sentence" in unit else 1), "Ann and She are in two sentences"


def test_clark2019_reads_entities_by_documents(monkeypatch, capsys, model: Path, treebank: Path, tmp_path: Path) -> None:
    command = ("paper", "clark2019", model, "--coreference", treebank, "--no-twin", "-o", tmp_path / "run")
    code, out, err = run_command(monkeypatch, capsys, *command)
    assert code == 0, err
    assert "clark2019_table2" in out


@pytest.mark.parametrize("paper", ["clark2019", "vig2019"])
@pytest.mark.parametrize(("unit", "documents"), [("sentence", 4), ("document", 2)])
def test_papers_read_a_treebank_by(unit, documents, paper, monkeypatch, capsys, model, treebank, tmp_path) -> None:
    more = ("--no-twin",) if paper == "clark2019" else ()
    command = ("paper", paper, model, "--treebank", treebank, "--unit", unit, *more, "-o", tmp_path / "run")
    code, _, err = run_command(monkeypatch, capsys, *command)
    assert code == 0, err
    (read,) = headscope.load_run(tmp_path / "run").manifest["read"]
    assert read == f"{documents} documents of coref.conllu (conllu by {unit})"


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        (("study", "-s", "relations"), "has no syntactic heads (conllu: its first row has 1 column"),
        (("study", "-s", "antecedents"), "has no mentions (conllu: its first row has 1 column"),
        (("paper", "clark2019", "--treebank"), "has no syntactic heads (conllu: its first row has 1 column"),
        (("paper", "clark2019", "--coreference"), "conll2012: its first line is 'A text.', not '#begin document'"),
        (("paper", "vig2019", "--treebank"), "has no syntactic heads (conllu: its first row has 1 column"),
    ],
)
def test_a_text_where_a_treebank_is_asked_for(command, wrong: str, monkeypatch, capsys, model, tmp_path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("A text.\nAnother.\n")
    arguments = (command[0], model, text, *command[1:]) if command[0] == "study" else (*command[:2], model, command[2], text)
    code, _, err = run_command(monkeypatch, capsys, *arguments, "-o", tmp_path / "run")
    assert (code, wrong in err) == (2, True), err


def test_advice_to_skip_only_where_that_can_be_done(
    monkeypatch, capsys, model: Path, treebank: Path, tmp_path: Path
) -> None:
    treebank.write_text(COREFUD.replace("2\tslept", "3\tslept"))
    at = f"headscope: {treebank}, line 5: the number of this word is '3', but 2 comes next; correct it"
    _, _, err = run_command(monkeypatch, capsys, "study", model, treebank, "-s", "relations", "-o", tmp_path / "run")
    assert err.endswith(f"{at}, or go on without it with --on-error skip.\n")
    command = ("study", model, treebank, "-s", "relations", "--on-error", "skip", "-o", tmp_path / "run")
    assert run_command(monkeypatch, capsys, *command)[0] == 0
    _, _, err = run_command(monkeypatch, capsys, "paper", "vig2019", model, "--treebank", treebank, "-o", tmp_path / "paper")
    assert err.endswith(f"{at}.\n")
