"""Two workers of Ray and this process: every file of a run, tables and figures, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import headscope
from headscope.engines import Ray
from headscope.lens import BY_WORD, ModelSource
from headscope.statistics import STATISTICS, Statistic
from headscope.text import Corpus
from tests.engines.clusters import files_of, small_ray
from tests.lens import language_models
from tests.papers.kobayashi2020.test_alignment import GOLD, LINES
from tests.papers.samples import run_command, save_tiny, write_data
from tests.statistics.examples import EXAMPLES, FAMILIES, documents_for

pytestmark = [pytest.mark.slow, pytest.mark.cluster, pytest.mark.xdist_group("ray")]


@pytest.fixture(scope="module")
def engine() -> Iterator[Ray]:
    with small_ray() as engine:
        yield engine


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    saved = {family: save_tiny(folder / family, family) for family in FAMILIES}
    for family in ("bert", "llama"):  # for gradients
        saved[f"{family}-lm"] = folder / f"{family}-lm"
        lens = language_models.lens_for(family)
        lens.model.save_pretrained(saved[f"{family}-lm"])
        lens.tokenizer.save_pretrained(saved[f"{family}-lm"])
    return saved


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("data")
    files = write_data(folder) | {"parallel": folder / "pairs.txt", "gold": folder / "gold.txt"}
    files["parallel"].write_text("".join(f"{line}\n" for line in LINES))
    files["gold"].write_text("".join(f"{line}\n" for line in GOLD))
    return files


def kind_of(statistic: Statistic) -> str:
    """What cannot be counted in one study with the rest: gradients, and words that are fed one by one."""
    return "gradients" if statistic.gradients else "by word" if "alignment" in statistic.needs else ""


def examples_of(family: str) -> dict[str, dict[str, Statistic]]:
    """All examples of statistics by kind and by the names of their tables."""
    found: dict[str, dict[str, Statistic]] = {}
    for some in EXAMPLES.values():
        for example in some:
            if family in example.families:
                made = example.make(family)
                found.setdefault(kind_of(made), {})[made.table_name] = made
    return found


def test_every_statistic_has_an_example_here() -> None:
    covered = {one.name for family in FAMILIES for some in examples_of(family).values() for one in some.values()}
    assert covered == set(STATISTICS)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_statistic(family: str, models: dict[str, Path], engine: Ray, tmp_path: Path) -> None:
    for kind, statistics in examples_of(family).items():
        if (kind, family) == ("gradients", "marian"):
            continue  # counted with the other two
        model = models[f"{family}-lm" if kind == "gradients" else family]
        how = {"encoding": BY_WORD} if kind == "by word" else {}
        for name, by in (("here", None), ("there", engine)):
            corpus = Corpus.from_documents(documents_for(family) * 3)
            out = tmp_path / f"{kind} {name}"
            headscope.study(
                ModelSource(str(model)), corpus, list(statistics.values()), out=out, shard_size=2, engine=by, **how
            )
        here, there = files_of(tmp_path / f"{kind} here"), files_of(tmp_path / f"{kind} there")
        assert {f"tables/{table}.parquet" for table in statistics} <= here.keys()
        assert_same(here, there)


COMMANDS = {
    "clark2019": ("bert", ("text", "treebank", "coreference", "vectors")),
    "vig2019": ("llama", ("treebank",)),
    "kobayashi2020": ("bert", ("text",)),
    "kobayashi2020 of pairs": ("marian", ("parallel", "gold")),
}


@pytest.mark.parametrize("named", COMMANDS)
def test_every_paper(named: str, models, data, engine: Ray, tmp_path: Path, monkeypatch, capsys) -> None:
    family, given = COMMANDS[named]
    options = [part for option in given for part in (f"--{option}", data[option])]
    options += ["--gold-base", 1] if "gold" in given else []
    compare(["paper", named.split()[0], models[family], *options], engine, tmp_path, monkeypatch, capsys, least=("svg", 1))


def test_align(models, data, engine: Ray, tmp_path: Path, monkeypatch, capsys) -> None:
    command = ["align", models["marian"], data["parallel"], "--gold", data["gold"], "--gold-base", 1, "--gradient", 2]
    compare(command, engine, tmp_path, monkeypatch, capsys, least=("parquet", 2))


def compare(command, engine: Ray, folder: Path, monkeypatch, capsys, least: tuple[str, int]) -> None:
    """A command here and with two workers of the Ray that is there: the same files."""
    engine.close()
    engine.cluster.join()  # begun once; the command's own workers join it
    for name, more in (("here", ()), ("there", ("--engine", "ray", "--workers", 2))):
        code, _, said = run_command(monkeypatch, capsys, *command, "-o", folder / "run", *more)
        assert code == 0, said
        (folder / "run").rename(folder / name)  # made in one place: a part's manifest may name a file of the run
    here, there = files_of(folder / "here"), files_of(folder / "there")
    assert sum(file.endswith(least[0]) for file in here) >= least[1]
    assert_same(here, there)


def assert_same(here: dict[str, bytes], there: dict[str, bytes]) -> None:
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []
