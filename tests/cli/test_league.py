"""`headscope league` as a user meets it: the cost first, the table, JSON, several models, refusals."""

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


def test_it_says_what_it_costs_and_which_number_goes_with_the_effect(monkeypatch, capsys, tmp_path, corpus) -> None:
    model, out = save_tiny(tmp_path / "llama", "llama"), tmp_path / "run"
    asked = ("league", model, corpus, "-o", out, "--texts", 3, "--how", "zero", "--orders", 1)
    code, said, beside = run(monkeypatch, capsys, *asked)
    assert code == 0
    assert "and 3 texts: as much work as" in " ".join(beside.split())
    assert "rho with kl, zero in a head's place, 3 texts" in said
    best = headscope.load_run(out)["league"].query("effect == 'kl' and number == 'second_order'")["rho"].iloc[0]
    assert f"second_order             {best:+.2f}" in said
    assert f"headscope table {out} league --sort rho" in said
    assert run(monkeypatch, capsys, "table", out, "league", "--sort", "rho")[0] == 0
    code, said, _ = run(monkeypatch, capsys, *asked, "--json")
    found = json.loads(said)
    assert (code, len(found["league"])) == (0, len(headscope.load_run(out)["league"]))
    assert "league_curves" in found["tables"]


def test_several_models_have_one_table(monkeypatch, capsys, tmp_path, corpus) -> None:
    models = [save_tiny(tmp_path / family, family) for family in ("llama", "gpt2")]
    code, said, _ = run(
        monkeypatch, capsys, "league", *models, corpus, "-o", tmp_path / "run", "--how", "zero", "--no-curves"
    )
    assert code == 0
    assert {"llama", "gpt2"} <= set(said.split())
    assert "In gpt2 and these 4 texts" in said


def test_a_translator_has_its_kinds_of_attention(monkeypatch, capsys, tmp_path, corpus) -> None:
    model, out = save_tiny(tmp_path / "marian", "marian"), tmp_path / "run"
    options = ("--target", corpus, "--how", "zero", "--texts", 3, "--no-curves")
    assert run(monkeypatch, capsys, "league", model, corpus, "-o", out, *options)[0] == 0
    assert set(headscope.load_run(out)["league"]["scope"]) == {"all", "encoder self", "decoder self", "decoder cross"}


@pytest.mark.parametrize(
    ("options", "says"),
    [(("--how", "median"), "not by 'median'"), (("--texts", "1"), "greater than or equal to 2")],
)
def test_what_cannot_be_is_one_sentence(monkeypatch, capsys, tmp_path, corpus, options, says) -> None:
    model = save_tiny(tmp_path / "llama", "llama")
    code, _, errors = run(monkeypatch, capsys, "league", model, corpus, "-o", tmp_path / "run", *options)
    assert code == 2
    assert says in errors


def test_a_model_that_is_not_there_and_a_corpus_of_one_text(monkeypatch, capsys, tmp_path, corpus) -> None:
    code, _, errors = run(monkeypatch, capsys, "league", tmp_path / "nothing", corpus, "-o", tmp_path / "run")
    assert code != 0
    assert errors.strip().splitlines()[-1].startswith("headscope: ")
    corpus.write_text("one text\n", encoding="utf-8")
    model = save_tiny(tmp_path / "llama", "llama")
    code, _, errors = run(monkeypatch, capsys, "league", model, corpus, "-o", tmp_path / "other")
    assert code == 2
    assert "has one document" in errors
