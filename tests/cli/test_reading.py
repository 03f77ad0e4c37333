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


@pytest.mark.parametrize("paper", ["clark2019", "kobayashi2020", "vig2019"])
def test_what_is_no_plain_text_is_not_taken_for_it(paper: str, monkeypatch, capsys, model, treebank, tmp_path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"text": "The cat sat."}\n{"text": "A dog sat on the mat."}\n' * 4)
    (tmp_path / "columns.tsv").write_text("0\tAnn\t(1)\n" * 5)
    more = ("--annotate", "spacy:none") if paper == "vig2019" else ()
    sentences = {
        treebank: "is conllu, not plain text: give one, or ",
        tmp_path / "rows.jsonl": "is jsonl, not plain text: give one, or ",
        tmp_path / "columns.tsv": "has 3 columns and is none of the formats that have",
    }
    for path, wrong in sentences.items():
        command = ("paper", paper, model, "--text", path, *more, "-o", tmp_path / "run")
        code, _, err = run_command(monkeypatch, capsys, *command)
        assert (code, f"{path} {wrong}" in err) == (2, True), err
    if paper == "kobayashi2020":  # the advice can be followed; and few texts are not a fault of the model
        command = ("paper", paper, model, "--text", tmp_path / "rows.jsonl", "--text-format", "jsonl", "--segments", 1)
        code, out, err = run_command(monkeypatch, capsys, *command, "--set", "mixed=9999", "-o", tmp_path / "run")
        assert code == 0, err
        assert "none of the few texts is among those that are measured; give more, or --set mixed=1." in out


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


# Sentences with "dogs" in two words, which nothing parts: as written, the tokenizer knows "dogs"; by words, "dog" and "s".
TWO_IN_ONE = "\n".join(
    f"1\t{article}\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tdog\t_\tNOUN\t_\t_\t4\tnsubj\t_\tSpaceAfter=No\n"
    f"3\ts\t_\tPART\t_\t_\t2\taux\t_\t_\n4\tsat\t_\tVERB\t_\t_\t0\troot\t_\t_\n5\t{other}\t_\tNOUN\t_\t_\t4\tobj\t_\t_\n"
    for article in ("the", "a", "one", "two", "pre", "split")
    for other in ("cat", "mat", "end", "words", "on", "dog")
)


@pytest.fixture
def joined(tmp_path: Path) -> Path:
    path = tmp_path / "joined.conllu"
    path.write_text(TWO_IN_ONE)
    return path


def test_a_study_by_word(monkeypatch, capsys, model: Path, joined: Path, tmp_path: Path) -> None:
    runs = {}
    for name, flag in {"written": (), "words": ("--by-word",)}.items():
        command = ("study", model, joined, "-s", "relations", "-s", "exemplars", *flag, "--report", "-o", tmp_path / name)
        code, _, err = run_command(monkeypatch, capsys, *command)
        assert code == 0, err
        runs[name] = headscope.load_run(tmp_path / name)
    assert runs["words"].manifest["settings"]["by_word"] is True
    assert "by_word" not in runs["written"].manifest["settings"]
    aux = {name: run["relations"].query("relation == 'aux'")["cases"].sum() for name, run in runs.items()}
    assert aux == {"written": 0, "words": 36 * 2 * 12}, "as written, 's has no piece of its own, and makes no case"
    assert runs["words"]["exemplars_readable"]["attending"].isin(["dog", "the", "a", "[CLS]", "[SEP]"]).any()
    assert not runs["words"]["exemplars_readable"]["attending"].eq("dogs").any()


@pytest.mark.parametrize("paper", ["clark2019", "vig2019"])
def test_papers_by_word(paper: str, monkeypatch, capsys, model: Path, joined: Path, tmp_path: Path) -> None:
    command = ("paper", paper, model, "--treebank", joined, "-o", tmp_path / "run", "--by-word")
    code, _, err = run_command(monkeypatch, capsys, *command)
    assert code == 0, err
    run = headscope.load_run(tmp_path / "run")
    assert run.manifest["settings"]["by_word"] is True
    assert all(part.manifest["settings"]["by_word"] for part in run.parts.values())
    if paper == "clark2019":
        assert run["relations"].query("relation == 'aux'")["cases"].max() == 36
        assert "clark2019_table3" in run.manifest["results"]
        assert not run["clark2019_fig5"]["attending"].eq("dogs").any()
    else:
        assert not run["vig2019_exemplars"]["attending"].eq("dogs").any()
