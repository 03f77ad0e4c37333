"""Small runs of every kind that leaves tables: a study's with everything, of an encoder-decoder, and the three papers'."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import headscope
from headscope.papers import clark2019, kobayashi2020, vig2019
from headscope.report.heads.exemplars import add_exemplars
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
from headscope.study.repeats import add_repeats
from headscope.text import Corpus
from tests.papers.samples import write_data
from tests.statistics.tester import documents, lens_for


def study(folder: Path, family: str = "bert") -> None:
    """All usual statistics by weight and by norm, and those that cards and findings read besides."""
    lens = lens_for(family)
    chosen = [STATISTICS[name](measure=measure) for name in usual_statistics() for measure in ("weight", "norm")]
    chosen += [JensenShannon(), Exemplars(), Separators(), CategoryWeights(), Dispersion(), NormCorrelation()]
    headscope.study(lens, documents(family), chosen, out=folder, shard_size=2)
    add_repeats(lens, folder, sequences=2, length=6)
    add_exemplars(lens, folder, documents(family))


def _study_of(family: str) -> Callable[[Path], None]:
    return lambda folder: study(folder, family)


def _clark(folder: Path) -> None:
    data = write_data(folder.parent)
    given = clark2019.Data(
        text=Corpus.from_files(data["text"], format="paragraph-pairs"),
        treebank=Corpus.from_files(data["treebank"]),
        coreference=Corpus.from_files(data["coreference"]),
    )
    clark2019.run(lens_for("bert"), folder, given, clark2019.Settings(twin=False, train_sentences=10))


def _vig(folder: Path) -> None:
    vig2019.run(lens_for("llama"), folder, vig2019.Data(Corpus.from_files(write_data(folder.parent)["treebank"])))


def _kobayashi(folder: Path) -> None:
    text = Corpus.from_files(write_data(folder.parent)["text"], format="paragraph-pairs")
    kobayashi2020.run(lens_for("bert"), folder, kobayashi2020.Data(text))


RUNS: dict[str, Callable[[Path], None]] = {
    "bert": _study_of("bert"),
    "llama": _study_of("llama"),
    "marian": _study_of("marian"),
    "clark2019": _clark,
    "vig2019": _vig,
    "kobayashi2020": _kobayashi,
}

every_run = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "bert" else pytest.mark.slow) for name in RUNS]
)
