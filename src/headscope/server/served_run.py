"""What of a run directory is offered: what it is, its numbers for every head, its report, texts that excite a head."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from headscope.errors import HeadscopeError
from headscope.lens import Lens
from headscope.lens.head import Head
from headscope.report.heads.exemplars import NAME, exemplars_of
from headscope.report.report_json import description
from headscope.server import corpus, exemplars
from headscope.server.queue import Check
from headscope.server.reading import as_bytes
from headscope.server.refusal import Refusal
from headscope.server.schemas import ExemplarsAnswer, HeadStatistic, RunAnswer, RunCorpus, RunModel
from headscope.server.settings import Settings
from headscope.statistics.exemplars import Exemplars
from headscope.study.manifest import NAME as MANIFEST
from headscope.study.manifest import describe_model, is_same_model, load_manifest
from headscope.study.tables import load_table, table_names
from headscope.views.head_statistics import head_statistics

BY_WEIGHT = ("exemplars", "exemplars_without_first")  # tables of the strongest pairs
PAPER = "vig2019_exemplars"  # a table that has the texts


class ServedRun:
    """A run directory beside the models of a server. Its files stay where they are: nobody gets one by its name."""

    def __init__(self, folder: Path, lenses: Mapping[str, Lens], settings: Settings) -> None:
        self.folder = folder
        self.manifest = load_manifest(folder)
        self.lenses = lenses
        self.settings = settings
        self._exemplars: dict[str, _Found] = {}  # by measure
        self._report: tuple[list[int], bytes] | None = None  # and the times of what it was made of
        self._reporting = threading.Lock()

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @cached_property
    def served(self) -> str | None:
        """The name of the run's own model among those that are served: the one with the same bytes."""
        own = self.manifest["model"]
        return next((name for name, lens in self.lenses.items() if is_same_model(describe_model(lens), own)), None)

    def describe(self) -> RunAnswer:
        manifest = self.manifest
        model = manifest["model"]
        return RunAnswer(
            name=self.name,
            paper=None if manifest["kind"] == "study" else manifest["kind"],
            finished=bool(manifest.get("finished")),
            model=RunModel(name=model["name"], architecture=model["architecture"], served=self.served),
            corpora=[_described(one["corpus"]) for one in corpus.manifests(self.folder) if "corpus" in one],
            counts=manifest.get("counts", {}),
            versions=manifest.get("versions", {}),
            tables=table_names(self.folder),
            statistics=[_finite(HeadStatistic(**asdict(one))) for one in head_statistics(self.folder)],
        )

    def report(self) -> bytes:
        """What the report's page carries, as JSON in gzip: made in seconds, and kept until the run changes."""
        with self._reporting:  # who comes meanwhile waits for the same
            now = [path.stat().st_mtime_ns for path in (self.folder / MANIFEST, self.folder / "tables") if path.exists()]
            if self._report is None or self._report[0] != now:
                try:
                    self._report = now, as_bytes(description(self.folder))
                except HeadscopeError as error:  # it is not finished, or has nothing to report
                    raise Refusal(404, str(error)) from error
            return self._report[1]

    def paths(self) -> list[str]:
        """Where the run and its corpus are: what nobody is told."""
        studies = corpus.manifests(self.folder)
        files = [path for one in studies for path in one.get("corpus", {}).get("paths", [])]
        return [str(self.folder), str(self.folder.resolve()), *files]

    def exemplars(self, stack: str, kind: str, layer: int, head: int, measure: str, check: Check) -> ExemplarsAnswer:
        """The texts that excite one head: those that the run has counted, or else some that are read now."""
        answer = {"stack": stack, "kind": kind, "layer": layer, "head": head, "measure": measure}
        if measure == "weight" and (written := self._written().get(Head(stack, kind, layer, head))):
            return ExemplarsAnswer.model_validate(
                {**answer, "computed": False, "documents": self._documents(), "exemplars": written}
            )
        lens = self._lens()
        if not any((site.stack, site.kind, site.layer) == (stack, kind, layer) and head < site.heads for site in lens.sites):
            raise Refusal(404, f"{self.served} has no head {layer}.{head} in its {stack} {kind} attention.")
        found = self._exemplars.get(measure)
        if found is None:
            found = self._exemplars[measure] = self._counted(lens, measure, check)
        table = found.table
        same_head = table["head"].isna() | (table["head"] == head)  # a joint measure has one row for all heads
        rows = table[(table["stack"] == stack) & (table["kind"] == kind) & (table["layer"] == layer) & same_head]
        return ExemplarsAnswer.model_validate(
            {
                **answer,
                "computed": found.computed,
                "documents": found.documents,
                "exemplars": exemplars.marked(rows, found.texts, lens, by_word=found.by_word),
            }
        )

    def _written(self) -> dict[Head, list[dict[str, Any]]]:
        """Exemplars whose texts stand in the run itself: they need neither the model nor the corpus."""
        names = table_names(self.folder)
        counted = next((name for name in names if name.startswith("exemplars") and name != NAME), None)
        # The texts of a study are those of the first table that it has counted.
        tables = [NAME, PAPER] if counted in (*BY_WEIGHT, None) else [PAPER]
        return exemplars_of({name: load_table(self.folder, name) for name in tables if name in names})

    def _lens(self) -> Lens:
        if self.served is None:
            model = self.manifest["model"]["name"]
            raise Refusal(404, f"This run is of {model}, which is not among the models here: serve it too.")
        return self.lenses[self.served]

    def _counted(self, lens: Lens, measure: str, check: Check) -> _Found:
        name = Exemplars(measure=measure).table_name
        documents = corpus.documents(self.folder)
        for table_name in (name, f"{name}_without_first"):
            if table_name in table_names(self.folder):
                table = load_table(self.folder, table_name)
                texts = exemplars.find(documents, table["document"], check)
                studies = corpus.manifests(self.folder)
                by_word = any(one.get("settings", {}).get("by_word") for one in studies)
                return _Found(table, texts, False, self._documents(), by_word)
        limits = self.settings.exemplar_documents, self.settings.exemplar_tokens
        table, texts = exemplars.counted_now(lens, documents, measure, *limits, check)
        return _Found(table, texts, True, len(texts), False)

    def _documents(self) -> int:
        studies = [one["corpus"] for one in corpus.manifests(self.folder) if "corpus" in one]
        counted = {one["fingerprint"]: one["documents"] for one in studies}
        return sum(counted.values())


class _Found:
    """A table of exemplars, and the texts that it names."""

    def __init__(self, table: pd.DataFrame, texts: exemplars.Texts, computed: bool, documents: int, by_word: bool) -> None:
        self.table, self.computed, self.documents, self.by_word = table, computed, documents, by_word
        named = set(table["document"])
        self.texts = {number: document for number, document in texts.items() if number in named}


def _described(corpus: dict[str, Any]) -> RunCorpus:
    files = [Path(path).name for path in corpus.get("paths", [])]
    return RunCorpus(files=files, format=corpus.get("format"), documents=corpus["documents"])


def _finite(statistic: HeadStatistic) -> HeadStatistic:
    values = {head: value for head, value in statistic.values.items() if math.isfinite(value)}
    return statistic.model_copy(update={"values": values})
