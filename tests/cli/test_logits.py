"""`headscope logits` and `headscope similarity`: what they print, write and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.papers.samples import run_command
from tests.planted_heads import planted_model, planted_tokenizer
from tests.tiny_tokenizers import save_tiny


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    planted_model().save_pretrained(folder)
    planted_tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny("bert", "wordpiece", tmp_path_factory.mktemp("encoder") / "bert")


def test_logits_are_printed(monkeypatch, capsys, planted: Path, tmp_path: Path) -> None:
    figure = tmp_path / "logits.svg"
    command = ("logits", planted, "a b c a", "--token", "b", "--against", "a", "--head", "1.0", "-o", figure)
    command += ("-o", tmp_path / "logits.html")
    code, out, err = run_command(monkeypatch, capsys, *command)
    assert code == 0, err
    assert "'b' less 'a'" in out
    assert "left over" in out
    first = next(line for line in out.splitlines() if line.strip().startswith("1.0"))
    assert first.split()[2] == "b", "the induction head's part comes through the b that it looks at"
    assert "Copying score of 1.0, from its weights alone: +1.00" in out
    assert f"Written: {figure}" in out.replace("\n", "")
    written = (tmp_path / "logits.html").read_text()
    described = json.loads(written.partition('id="page">')[2].partition("</script>")[0])
    parts = described["logits"]
    assert (described["kind"], parts["at"], parts["position"]) == ("view", "a", 4)
    (group,) = parts["groups"]
    assert (group["name"], group["tokens"]) == ("decoder self", ["<s>", "a", "b", "c", "a"])
    of_heads = sum(part for layer in group["parts"] for head in layer for part in head)
    assert of_heads == pytest.approx(parts["sums"][0]["part"], abs=1e-3)
    assert sum(one["part"] for one in parts["sums"]) + parts["remainder"] == pytest.approx(parts["total"], abs=1e-9)
    drawn = figure.read_text()
    assert ">Part of each head</text>" in drawn
    assert ">1.0 by token" in drawn


def test_logits_as_json(monkeypatch, capsys, planted: Path) -> None:
    code, out, err = run_command(monkeypatch, capsys, "logits", planted, "a b c a", "--head", "1.3", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["token"] == {"id": 2, "text": "b"}, "the likeliest"
    assert found["against"] is None
    assert sum(part["part"] for part in found["parts"]) == pytest.approx(found["logit"], abs=1e-5)
    assert sum(found["sums"].values()) + found["remainder"] == pytest.approx(found["logit"], abs=1e-9)
    assert {part["of"] for part in found["parts"]} == {"head", "embedding", "mlp", "bias"}
    assert found["head"]["copying"] is None
    assert [token["token"] for token in found["head"]["tokens"]] == found["tokens"] == ["<s>", "a", "b", "c", "a"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--token", "b c"), "is 2 tokens"),
        (("--token", "b", "--at", "9"), "There is no position 9"),
        (("--token", "b", "--head", "7.1"), "There is no layer 7.1"),
        (("-o", "logits.txt"), "a view is saved as one of .html"),
    ],
)
def test_what_is_wrong_is_said(monkeypatch, capsys, planted: Path, arguments: tuple[str, ...], said: str) -> None:
    code, out, err = run_command(monkeypatch, capsys, "logits", planted, "a b c a", *arguments)
    assert code == 2
    assert said in err
    assert "Traceback" not in err + out


def test_similarity_is_printed_and_as_json(monkeypatch, capsys, encoder: Path) -> None:
    texts = ("the cat sat", "a dog sat")
    code, out, err = run_command(monkeypatch, capsys, "similarity", encoder, *texts)
    assert code == 0, err
    assert "cosine of the mean of their tokens" in out
    assert out.count("left over") == 2
    code, out, err = run_command(monkeypatch, capsys, "similarity", encoder, *texts, "--pooling", "cls", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["pooling"] == "cls"
    for side in ("one", "other"):
        summed = sum(token["heads"] + token["itself"] for token in found[side]["tokens"])
        assert summed == pytest.approx(found["cosine"], abs=1e-5)
        assert len(found["heads"]) == 12
