"""What of a run is offered: its numbers, texts that excite a head; and no file by its name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import headscope
from headscope.demo.text import text
from headscope.heads.exemplars import add_exemplars
from headscope.lens import Lens
from headscope.report.report_json import description
from headscope.server.excited_text import excited_text
from headscope.server.exemplars import counted_now, marked
from headscope.study.manifest import load_manifest, save_manifest
from headscope.study.study import study
from headscope.text import Corpus, Document
from tests.papers.samples import save_tiny
from tests.server.conftest import client_of

LINES = ["the cat sat on the mat", "two dogs and a cat", "one unbelievable end , the end .", "a dog", "pre split words"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "some <b> texts.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def run_of(lens: Lens, corpus: Any, out: Path, statistics: list[Any]) -> Path:
    study(lens, Corpus.of(corpus), statistics, out=out, batch_size=2)
    return out


@pytest.fixture
def counted(lenses: dict[str, Lens], corpus: Path, tmp_path: Path) -> Iterator[tuple[TestClient, Path]]:
    """A run that has exemplars."""
    run = run_of(lenses["bert"], corpus, tmp_path / "run", ["entropy", "distance", "exemplars"])
    with client_of(lenses, run) as client:
        yield client, run


def exemplars(client: TestClient, where: str = "encoder/self/1/2", **query: str) -> Any:
    answer = client.get(f"/api/heads/{where}/exemplars", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_without_a_run(client: TestClient) -> None:
    for path in ("/api/run", "/api/run/report", "/api/heads/encoder/self/0/0/exemplars"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "--run" in answer.json()["error"]


def test_what_the_run_is(counted: tuple[TestClient, Path]) -> None:
    client, run = counted
    found = client.get("/api/run").json()
    assert (found["name"], found["finished"], found["paper"]) == ("run", True, None)
    assert found["model"] == {"name": "BertModel", "architecture": "BertModel", "served": "bert"}
    assert found["corpora"] == [{"files": ["some <b> texts.txt"], "format": "lines", "documents": 5}]
    assert found["tables"] == ["distance", "entropy", "exemplars"]
    entropy = next(one for one in found["statistics"] if one["name"] == "entropy.entropy")
    right = headscope.load_run(run)["entropy"]
    assert entropy["values"] == {
        f"{row.stack} {row.kind} {row.layer}.{row.head}": pytest.approx(row.entropy) for row in right.itertuples()
    }
    assert str(run.parent) not in json.dumps(found)  # nobody learns where things are


def test_exemplars_that_the_run_has_counted(counted: tuple[TestClient, Path]) -> None:
    client, run = counted
    found = exemplars(client)
    assert (found["computed"], found["documents"], found["measure"]) == (False, 5, "weight")
    table = headscope.load_run(run)["exemplars"]
    best = table[(table["layer"] == 1) & (table["head"] == 2)].sort_values("rank").iloc[0]
    first = found["exemplars"][0]
    assert first["score"] == pytest.approx(best["score"])
    assert first["source"].startswith("some <b> texts.txt")
    for one in found["exemplars"]:
        assert "".join(part["text"] for part in one["runs"]) in LINES
        marks = {part["mark"]: part["text"] for part in one["runs"] if part["mark"]}
        assert marks == {"attending": one["attending"], "attended": one["attended"]}


def test_the_marked_tokens_are_those_of_the_strongest_pair(
    counted: tuple[TestClient, Path], lenses: dict[str, Lens]
) -> None:
    first = exemplars(counted[0])["exemplars"][0]
    line = "".join(part["text"] for part in first["runs"])
    reading = lenses["bert"].read(line)
    scores = reading.scores("weight", layer=1)[2].clone()
    scores.fill_diagonal_(-1)
    scores[[0, -1]] = -1
    scores[:, [0, -1]] = -1
    row, key = divmod(int(scores.argmax()), len(reading.tokens))
    assert float(scores.max()) == pytest.approx(first["score"], abs=1e-5)
    assert (reading.tokens[row].strip("#"), reading.tokens[key].strip("#")) == (first["attending"], first["attended"])


def test_an_exemplar_opens_with_its_pair(counted: tuple[TestClient, Path], lenses: dict[str, Lens], corpus: Path) -> None:
    """Read as it is said, the two tokens that it says to keep have the score that the exemplar has."""
    client, run = counted
    for _ in range(2):
        for one in exemplars(client)["exemplars"]:
            opens = one["opens"]
            reading = lenses["bert"].read(opens["text"])
            row, key = (int(name[1:]) for name in opens["keep"])
            assert [name[0] for name in opens["keep"]] == ["q", "k"]
            assert (reading.tokens[row].strip("#"), reading.tokens[key].strip("#")) == (one["attending"], one["attended"])
            assert float(reading.scores("weight", layer=1)[2, row, key]) == pytest.approx(one["score"], abs=1e-5)
        add_exemplars(lenses["bert"], run, Corpus.of(corpus))  # from now on they stand in the run


def test_of_a_long_text_what_is_around_its_pair_opens(lenses: dict[str, Lens]) -> None:
    before, after = "the end . " * 300, " and the end" * 300
    runs: list[Any] = [
        {"text": before, "mark": None},
        {"text": "cat", "mark": "attending"},
        {"text": " sat on the ", "mark": None},
        {"text": "mat", "mark": "attended"},
        {"text": after, "mark": None},
    ]
    found: Any = {"score": 0.9, "attending": "cat", "attended": "mat", "runs": runs, "attended_runs": [], "source": ""}
    opens = excited_text(found, "encoder", "self", lenses["bert"], 300)
    assert opens is not None
    tokens = lenses["bert"].read(opens["text"]).tokens
    assert 20 < len(tokens) <= 300
    assert [tokens[int(name[1:])] for name in opens["keep"]] == ["cat", "mat"]
    assert excited_text(found, "encoder", "self", lenses["bert"], 20) is None


def test_exemplars_that_are_read_now(lenses: dict[str, Lens], corpus: Path, tmp_path: Path) -> None:
    run = run_of(lenses["bert"], corpus, tmp_path / "run", ["entropy"])
    full = run_of(lenses["bert"], corpus, tmp_path / "full", ["exemplars"])
    with client_of(lenses, run) as client, client_of(lenses, full) as other:
        found, right = exemplars(client), exemplars(other)
        assert (found["computed"], found["documents"]) == (True, 5)
        for one, same in zip(found["exemplars"], right["exemplars"], strict=True):
            assert one["score"] == pytest.approx(same["score"], abs=1e-6)
            assert one["runs"] == same["runs"]
        assert exemplars(client, measure="norm")["exemplars"]
    with client_of(lenses, run, exemplar_documents=2) as client:
        assert exemplars(client)["documents"] == 2
    with client_of(lenses, run, exemplar_tokens=10) as client:
        assert exemplars(client)["documents"] == 1


def test_heads_and_measures_that_are_not_there(counted: tuple[TestClient, Path]) -> None:
    client, _ = counted
    for where in ("encoder/self/1/4", "encoder/self/3/0", "decoder/self/0/0", "encoder/cross/0/0"):
        answer = client.get(f"/api/heads/{where}/exemplars")
        assert answer.status_code == 404, where
        assert "has no head" in answer.json()["error"]
    for where in ("encoder/self/-1/0", "encoder/self/a/0", "sideways/self/0/0"):
        assert client.get(f"/api/heads/{where}/exemplars").status_code == 422
    answer = client.get("/api/heads/encoder/self/0/0/exemplars?measure=loudness")
    assert (answer.status_code, "There is no measure" in answer.json()["error"]) == (422, True)


def test_a_corpus_that_is_gone(lenses: dict[str, Lens], corpus: Path, tmp_path: Path) -> None:
    run = run_of(lenses["bert"], corpus, tmp_path / "run", ["entropy", "exemplars"])
    corpus.unlink()
    with client_of(lenses, run) as client:
        for measure in ("weight", "norm"):
            answer = client.get(f"/api/heads/encoder/self/0/0/exemplars?measure={measure}")
            assert answer.status_code == 404
            assert "no longer where it was" in answer.json()["error"]
            assert str(tmp_path) not in answer.text
        assert client.get("/api/run").status_code == 200


def test_a_corpus_that_was_never_a_file(lenses: dict[str, Lens], tmp_path: Path) -> None:
    run = run_of(lenses["bert"], LINES, tmp_path / "run", ["entropy"])
    with client_of(lenses, run) as client:
        answer = client.get("/api/heads/encoder/self/0/0/exemplars")
        assert (answer.status_code, "given from Python" in answer.json()["error"]) == (404, True)


def test_pairs_of_paragraphs_are_found_again(lenses: dict[str, Lens], tmp_path: Path) -> None:
    (tmp_path / "demo.txt").write_text(text())
    documents = Corpus.from_files(tmp_path / "demo.txt", format="paragraph-pairs")
    study(lenses["bert"], documents, ["entropy"], out=tmp_path / "run", truncate=True)
    with client_of(lenses, tmp_path / "run", exemplar_documents=3) as client:
        found = exemplars(client)
    assert found["documents"] == 3
    joined = [f"{document.text} {document.pair}" for document in list(documents)[:3]]
    for one in found["exemplars"]:
        shown = "".join(part["text"] for part in one["runs"]).strip("… ")
        assert any(shown in whole for whole in joined)


def test_a_run_of_another_model(lenses: dict[str, Lens], corpus: Path, tmp_path: Path) -> None:
    run = run_of(lenses["bert"], corpus, tmp_path / "run", ["exemplars"])
    with client_of({"fr-en": lenses["fr-en"]}, run) as client:
        assert client.get("/api/run").json()["model"]["served"] is None
        answer = client.get("/api/heads/encoder/self/0/0/exemplars")
        assert (answer.status_code, "serve it too" in answer.json()["error"]) == (404, True)


def test_exemplars_of_cross_attention(lenses: dict[str, Lens]) -> None:
    """The attending token is in the translation, the attended one in the source."""
    rows = [{"text": "the cat sat", "target": "two dogs"}, {"text": "a dog and", "target": "pre split words"}]
    documents = [Document(row["text"], target=row["target"]) for row in rows]
    table, texts = counted_now(lenses["fr-en"], documents, "weight", 10, 1000, lambda: None)
    head = table[(table["kind"] == "cross") & (table["layer"] == 1) & (table["head"] == 0)]
    first = marked(head, texts, lenses["fr-en"])[0]
    before, after = ("".join(part["text"] for part in first[runs]) for runs in ("runs", "attended_runs"))
    row = next(row for row in rows if row["text"] == after)
    assert before == row["target"]
    assert first["attended"] in row["text"]
    assert first["attending"] in row["target"]
    opens = excited_text(first, "decoder", "cross", lenses["fr-en"], 100)
    assert opens is not None
    reading = lenses["fr-en"].read(opens["text"], target=opens["target"])
    at, to = (int(name[1:]) for name in opens["keep"])
    assert float(reading.scores("weight", kind="cross", layer=1)[0, at, to]) == pytest.approx(first["score"], abs=1e-5)
    assert excited_text(first, "decoder", "self", lenses["fr-en"], 100) is None  # its source is not known


def test_a_paper_run_has_its_corpus_in_its_parts(lenses: dict[str, Lens], corpus: Path, tmp_path: Path) -> None:
    part = run_of(lenses["bert"], corpus, tmp_path / "paper" / "parts" / "text", ["exemplars"])
    manifest = load_manifest(part)
    save_manifest(tmp_path / "paper", {"kind": "vig2019", "model": manifest["model"], "finished": True})
    with client_of(lenses, tmp_path / "paper") as client:
        found = client.get("/api/run").json()
        assert (found["paper"], found["corpora"][0]["documents"]) == ("vig2019", 5)
        assert exemplars(client)["computed"]


def test_the_report(counted: tuple[TestClient, Path]) -> None:
    client, run = counted
    answer = client.get("/api/run/report")
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.json() == json.loads(json.dumps(description(run)))
    assert [head["label"] for head in answer.json()["heads"]][:2] == ["0.0", "0.1"]


def test_the_report_is_made_once_and_again_when_the_run_changes(
    counted: tuple[TestClient, Path], lenses: dict[str, Lens], corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, run = counted
    made: list[Path] = []
    monkeypatch.setattr("headscope.server.served_run.description", lambda run: (made.append(run), description(run))[1])
    first = client.get("/api/run/report").json()
    assert client.get("/api/run/report").json() == first
    assert len(made) == 1
    add_exemplars(lenses["bert"], run, Corpus.of(corpus))
    changed = client.get("/api/run/report").json()
    assert len(made) == 2
    assert not first["heads"][0]["exemplars"]
    assert changed["heads"][0]["exemplars"][0]["source"].startswith(corpus.name)
    assert str(run.parent) not in json.dumps(changed)


def test_no_sentence_says_where_things_are(lenses: dict[str, Lens], corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "somewhere" / "tiny"
    save_tiny(folder, "bert")
    with headscope.open(folder, name="small") as lens:
        run = run_of(lens, corpus, tmp_path / "run", ["entropy"])
        (run / "tables" / "entropy.parquet").unlink()
        corpus.write_bytes(b"\x00")
        with client_of({"small": lens}, run) as client:
            answers = [
                client.post("/api/read", json={"model": "small", "text": "a", "layers": [7]}),
                client.post("/api/read", json={"model": "small", "text": "a", "target": "b"}),
                client.get("/api/run/report"),
                client.get("/api/run"),
                client.get("/api/models"),
                client.get("/api/heads/encoder/self/0/0/exemplars"),
            ]
    assert "small has no attention in layer 7" in answers[0].json()["error"]
    assert answers[2].json()["error"].startswith("run has no tables")
    for answer in answers:
        assert str(tmp_path) not in answer.text, answer.text


def test_a_run_that_is_not_finished_has_no_report(counted: tuple[TestClient, Path]) -> None:
    client, run = counted
    save_manifest(run, {**load_manifest(run), "finished": False})
    answer = client.get("/api/run/report")
    assert (answer.status_code, "run is not finished" in answer.json()["error"]) == (404, True)
    assert str(run.parent) not in answer.text


def test_texts_that_stand_in_the_run_need_neither_corpus_nor_model(
    counted: tuple[TestClient, Path], lenses: dict[str, Lens], corpus: Path
) -> None:
    client, run = counted
    right = exemplars(client)
    add_exemplars(lenses["bert"], run, Corpus.of(corpus))
    corpus.unlink()
    with client_of({"fr-en": lenses["fr-en"]}, run) as other:
        found = exemplars(other)
    assert [one.pop("opens") for one in found["exemplars"]] == [None] * len(found["exemplars"])  # nothing here can read them
    for one in right["exemplars"]:
        del one["opens"]
    assert found == right
