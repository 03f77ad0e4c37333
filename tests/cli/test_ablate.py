"""`headscope ablate` as a user meets it: what it prints, JSON, tables, a translator's two files, and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import headscope
from tests.papers.samples import run_command as run
from tests.papers.samples import save_tiny

TEXTS = ["the unbelievable cats sat on the mat .", "a dog , two dogs", "one cat sat", "the end of the mat"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return file


def test_it_prints_the_heads_that_matter_most_and_where_the_tables_are(monkeypatch, capsys, tmp_path, corpus) -> None:
    model, out = save_tiny(tmp_path / "llama", "llama"), tmp_path / "run"
    code, said, beside = run(
        monkeypatch, capsys, "ablate", model, corpus, "-o", out, "--how", "zero", "--layers", "--draws", 2
    )
    assert code == 0
    assert "Counted 4 documents" in said
    assert "not of the kind that it was trained for" in " ".join(beside.split()), "a random model guesses"
    best = headscope.load_run(out)["ablation"].nsmallest(1, "rank").iloc[0]
    assert f"decoder self {best['layer']}.{best['head']}  zero  loss {best['loss']:+.4f}  kl {best['kl']:+.4f}" in said
    assert "ablation, ablation_layers" in said
    assert run(monkeypatch, capsys, "table", out, "ablation", "--sort", "kl", "--top", 2)[0] == 0
    code, said, _ = run(
        monkeypatch, capsys, "ablate", model, corpus, "-o", out, "--how", "zero", "--layers", "--draws", 2, "--json"
    )
    found = json.loads(said)
    assert (code, found["documents"], found["tables"]) == (0, 4, ["ablation", "ablation_layers"])
    assert found["clean"]["loss"] > 0


def test_a_translator_has_two_files(monkeypatch, capsys, tmp_path, corpus) -> None:
    model, out = save_tiny(tmp_path / "marian", "marian"), tmp_path / "run"
    options = ("--target", corpus, "--how", "zero", "--no-estimate", "--take", 2)
    code, _, _ = run(monkeypatch, capsys, "ablate", model, corpus, "-o", out, *options)
    assert code == 0
    assert set(headscope.load_run(out)["ablation"]["kind"]) == {"self", "cross"}


def test_sets_alone_are_printed_by_their_names(monkeypatch, capsys, tmp_path, corpus) -> None:
    model, out = save_tiny(tmp_path / "llama", "llama"), tmp_path / "run"
    options = ("--how", "zero", "--heads", "0.1, 1.0", "--layers", "--no-each")
    code, said, _ = run(monkeypatch, capsys, "ablate", model, corpus, "-o", out, *options)
    row = headscope.load_run(out)["ablation_sets"].iloc[0]
    assert code == 0
    assert f"decoder self 0.1, decoder self 1.0  zero  loss {row['loss']:+.4f}  kl {row['kl']:+.4f}" in said
    assert "  decoder self 1  zero" in said
    assert f"headscope table {out} ablation_layers --sort kl" in said
    assert run(monkeypatch, capsys, "table", out, "ablation_layers", "--sort", "kl")[0] == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--exact", "3"), "exact= takes the largest of the estimates"),
        (("--how", "median"), "not by 'median'"),
        (("--heads", "9.9"), "There is no layer 9.9"),
        (("--curve", "entropy.entropy"), "has no column 'entropy.entropy'"),
    ],
)
def test_what_cannot_be_is_one_sentence(monkeypatch, capsys, tmp_path, corpus, options, says) -> None:
    model = save_tiny(tmp_path / "llama", "llama")
    given = ("--how", "zero", "--no-estimate", *options) if options[0] != "--how" else options
    code, _, errors = run(monkeypatch, capsys, "ablate", model, corpus, "-o", tmp_path / "run", *given)
    assert code == 2
    assert says in errors
    assert errors.strip().splitlines()[-1].startswith("headscope: "), "one sentence, behind the progress at most"
