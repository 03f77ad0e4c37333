"""Ray counts to the same bytes as this process, and without Ray nothing else breaks. The rest of the folder takes long."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import headscope
from headscope.engines import Ray
from headscope.engines.worker import Worker, check_same, here
from headscope.errors import InputError, ModelError
from headscope.lens import ModelSource
from headscope.statistics import Entropy
from headscope.study.manifest import MadeWith
from headscope.text.pieces import Piece
from tests.engines.clusters import files_of, small_ray
from tests.papers.samples import run_command, save_tiny

TEXTS = [f"the {'cat ' * (1 + n % 9)}sat on the mat , and the dog" for n in range(30)]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> ModelSource:
    return ModelSource(str(save_tiny(tmp_path_factory.mktemp("models") / "small")))


@pytest.fixture(scope="module")
def engine() -> Iterator[Ray]:
    with small_ray() as engine:
        yield engine


@pytest.mark.xdist_group("ray")
def test_ray_counts_the_same_bytes(source: ModelSource, engine: Ray, tmp_path: Path) -> None:
    counted = [Entropy(measure="norm", level="word"), "distance", "jensen_shannon", "exemplars"]
    headscope.study(source, TEXTS, counted, out=tmp_path / "here", shard_size=4)
    headscope.study(source, TEXTS, counted, out=tmp_path / "there", shard_size=4, engine=engine)
    assert files_of(tmp_path / "here") == files_of(tmp_path / "there")


TAKING_AWAY = {
    "ablate": (
        ["--how", "zero", "--how", "mean", "--heads", "0.0, 1.1", "--layers", "--curve", "ablation.kl", "--draws", 2],
        ("ablation", "ablation_sets", "ablation_layers", "ablation_curve"),
    ),
    "league": (["--how", "zero", "--tokens", 2], ("league", "league_heads", "league_curves", "league_tokens")),
}


@pytest.mark.xdist_group("ray")
@pytest.mark.parametrize("command", ["ablate", pytest.param("league", marks=pytest.mark.cluster)])
def test_ray_takes_heads_away_to_the_same_bytes(command: str, engine: Ray, tmp_path: Path, monkeypatch, capsys) -> None:
    """Means, estimates, effects, sets, layers and the curve: every phase is a job, and every file the same."""
    model = save_tiny(tmp_path / "llama", "llama")
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS[:12]))
    engine.close()
    engine.cluster.join()  # begun once; the command's own workers join it
    given, tables = TAKING_AWAY[command]
    run = [command, model, tmp_path / "texts.txt", *given, "--shard-size", 4, "--json", "-o", tmp_path / "run"]
    for name, more in (("here", ()), ("there", ("--engine", "ray", "--workers", 2))):
        code, _, said = run_command(monkeypatch, capsys, *run, *more)
        assert code == 0, said
        (tmp_path / "run").rename(tmp_path / name)
    here, there = files_of(tmp_path / "here"), files_of(tmp_path / "there")
    assert {f"tables/{table}.parquet" for table in tables} <= here.keys()
    assert here.keys() == there.keys()
    assert [file for file in here if here[file] != there[file]] == []


@pytest.mark.xdist_group("ray")
def test_files_are_read_where_the_workers_are(
    source: ModelSource, engine: Ray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the documents are sent to a worker that does not see the files: here, since only this process is told of them."""
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS))
    monkeypatch.chdir(tmp_path)
    headscope.study(source, "corpus.txt", ["entropy", "exemplars"], out="here", shard_size=4)
    headscope.study(source, "corpus.txt", ["entropy", "exemplars"], out="there", shard_size=4, engine=engine)
    sent = []

    class Unseen(Piece):
        def __reduce__(self) -> tuple[object, ...]:
            sent.append(self.place)
            gone = self.source.only(slice(None))
            gone.paths = [Path("gone.txt")]
            return Piece, (gone, self.place, self.documents, self.sizes)

    monkeypatch.setattr("headscope.text.pieces.Piece", Unseen)
    headscope.study(source, "corpus.txt", ["entropy", "exemplars"], out="unseen", shard_size=4, engine=engine)
    assert 1 <= len(sent) <= 4, "two workers, with two shards each, find out that they do not see the file"
    assert files_of(Path("here")) == files_of(Path("there")) == files_of(Path("unseen"))


@pytest.mark.xdist_group("ray")
def test_another_model_is_opened_by_the_same_workers(source: ModelSource, engine: Ray, tmp_path: Path) -> None:
    twin = ModelSource(source.model, random_init=3)
    headscope.study(twin, TEXTS, ["entropy"], out=tmp_path / "here", shard_size=4)
    headscope.study(twin, TEXTS, ["entropy"], out=tmp_path / "there", shard_size=4, engine=engine)
    assert files_of(tmp_path / "here") == files_of(tmp_path / "there")


@pytest.mark.xdist_group("ray")
def test_a_wrong_document_is_said_as_here_and_the_rest_is_kept(source: ModelSource, engine: Ray, tmp_path: Path) -> None:
    texts = [*TEXTS[:12], "cat " * 500, *TEXTS[12:]]
    said = []
    for name, by in (("here", None), ("there", engine)):
        with pytest.raises(InputError) as error:
            headscope.study(source, texts, ["entropy"], out=tmp_path / name, shard_size=4, engine=by)
        said.append(str(error.value))
    assert said[0] == said[1]
    assert "item 13" in said[0]
    assert len(list((tmp_path / "there" / "shards").iterdir())) >= 3
    headscope.study(source, texts[:12], ["entropy"], out=tmp_path / "after", shard_size=4, engine=engine)


def test_a_worker_with_another_model_or_software_is_refused(source: ModelSource) -> None:
    worker = Worker(1)
    with source.open() as lens:
        own = MadeWith.of(lens)
    assert worker.open(source, own, os.getcwd()).__class__.__name__ == "Ready"
    other = MadeWith(own.hashes, {**own.versions, "torch": "1.0"}, own.size)
    with pytest.raises(ModelError, match=r'is not used: torch was "1.0" and is'):
        check_same(other, own)
    changed = MadeWith({**own.hashes, "model.safetensors": "0"}, own.versions, own.size)
    with pytest.raises(ModelError, match=r"model.model.safetensors was"):
        check_same(changed, own)


def test_a_worker_takes_the_gpu_that_it_sees() -> None:
    assert here(ModelSource("m", device="cuda:3")).device == "cuda"
    assert here(ModelSource("m")).device is None


def test_without_ray_a_sentence_says_what_to_install(
    source: ModelSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS))
    study = ["study", source.model, tmp_path / "corpus.txt", "-s", "entropy", "-o"]
    code, _, said = run_command(monkeypatch, capsys, *study, tmp_path / "there", "--engine", "ray")
    assert code == 2
    assert "pip install 'headscope[ray]'" in said
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "there").exists(), "said before anything is begun"
    assert run_command(monkeypatch, capsys, *study, tmp_path / "here")[0] == 0


def test_what_is_about_ray_is_not_for_this_process(
    source: ModelSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS))
    given = ["study", source.model, tmp_path / "corpus.txt", "-o", tmp_path / "run", "--workers", "2"]
    code, _, said = run_command(monkeypatch, capsys, *given)
    assert (code, "--workers is about --engine ray" in said) == (2, True)
