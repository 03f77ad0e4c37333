"""Small runs of every kind that leaves tables, runs made by hand, and a finding's number computed again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import headscope
from headscope.heads.exemplars import add_exemplars
from headscope.lens import ModelSource
from headscope.lens.head import HEAD
from headscope.papers import clark2019, kobayashi2020, vig2019
from headscope.statistics import (
    STATISTICS,
    CategoryWeights,
    Dispersion,
    Exemplars,
    JensenShannon,
    NormCorrelation,
    Separators,
    usual_statistics,
)
from headscope.study.manifest import save_manifest
from headscope.study.repeats import add_repeats
from headscope.study.run import Run
from headscope.study.tables import save_table
from headscope.text import Corpus
from tests.lens.language_models import documents as documents_for_words
from tests.lens.language_models import lens_for as language_model_lens
from tests.papers.samples import write_data
from tests.statistics.tester import documents, lens_for


def study(folder: Path, family: str = "bert") -> None:
    """All usual statistics by weight and by norm, and those that cards and findings read besides."""
    lens = lens_for(family)
    chosen = [STATISTICS[name](measure=measure) for name in usual_statistics() for measure in ("weight", "norm")]
    chosen += [JensenShannon(), Exemplars(), Separators(), CategoryWeights(), Dispersion(), NormCorrelation()]
    run = headscope.study(lens, documents(family), chosen, out=folder, shard_size=2)
    add_repeats(lens, run, sequences=2, length=6)
    add_exemplars(lens, run, documents(family))


def _study_of(family: str) -> Callable[[Path], None]:
    return lambda folder: study(folder, family)


def _clark(folder: Path) -> None:
    data = write_data(folder.parent)
    given = clark2019.Data(
        text=Corpus.from_files(data["text"], format="paragraph-pairs"),
        treebank=Corpus.from_files(data["treebank"]),
        coreference=Corpus.from_files(data["coreference"]),
    )
    clark2019.run(lens_for("bert"), given, clark2019.Settings(twin=False, train_sentences=10), out=folder)


def _vig(folder: Path) -> None:
    vig2019.run(lens_for("llama"), vig2019.Data(Corpus.from_files(write_data(folder.parent)["treebank"])), out=folder)


def _kobayashi(folder: Path) -> None:
    text = Corpus.from_files(write_data(folder.parent)["text"], format="paragraph-pairs")
    kobayashi2020.run(lens_for("bert"), kobayashi2020.Data(text), out=folder)


def _league(folder: Path) -> None:
    lens = language_model_lens("marian")
    texts = documents_for_words("marian")
    headscope.league(lens, texts, orders=2, tokens=2, curve_texts=3, out=folder)


RUNS: dict[str, Callable[[Path], None]] = {
    "bert": _study_of("bert"),
    "llama": _study_of("llama"),
    "marian": _study_of("marian"),
    "clark2019": _clark,
    "vig2019": _vig,
    "kobayashi2020": _kobayashi,
    "league": _league,
}

SampleRun = Callable[[str], Run]  # what the fixture of this name is


def made_once(new_folder: Callable[[str], Path]) -> SampleRun:
    """Each run by its name, made when it is first asked for."""

    @cache
    def run(name: str) -> Run:
        folder = new_folder(name) / "run"
        RUNS[name](folder)
        return Run.open(folder)

    return run


every_run = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "bert" else pytest.mark.slow) for name in RUNS]
)


def made_run(folder: Path, **tables: pd.DataFrame) -> Path:
    """A run directory that nobody has counted, with these tables."""
    recipe = ModelSource("/home/ann/secret/bert").describe()
    model = {**recipe, "architecture": "BertModel", "device": "cpu", "hashes": {}}
    save_manifest(folder, {"kind": "study", "model": model, "settings": {}, "versions": {}, "finished": True})
    for name, table in tables.items():
        save_table(folder, name, table)
    return folder


def per_head(values: list[float], name: str = "entropy", heads: int = 2) -> pd.DataFrame:
    rows = [["encoder", "self", place // heads, place % heads, value] for place, value in enumerate(values)]
    return pd.DataFrame(rows, columns=[*HEAD, name])


def recomputed(number: Mapping[str, Any], run: Run) -> float:
    """A finding's number, out of the table, column and rows that it names."""
    if number["table"] == "manifest":
        part, name = number["column"].split(".")
        return float(run.manifest[part][name])
    rows = run.roles if number["table"] == "roles" else run[number["table"]]
    for column, value in number["where"].items():
        rows = rows[rows[column] == value]
    if number["of"] == "count":
        return float(len(rows))
    values = pd.Series(rows.eval(number["column"])).astype(float)
    if number["of"] == "cell":
        assert len(values) == 1, number
        return float(values.iloc[0])
    return float({"mean": values.mean, "median": values.median}[number["of"]]())
