"""What of a run directory is offered: what it is, its numbers for every head, its report, texts that excite a head."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

from headscope.errors import HeadscopeError, InputError
from headscope.heads.exemplars import NAME
from headscope.later import pd
from headscope.lens import Head, Lens
from headscope.report.heads.exemplars import exemplars_of
from headscope.report.report_json import description
from headscope.report.schema import Exemplar
from headscope.server import exemplars
from headscope.server.excited_text import excited_text
from headscope.server.queue import Check
from headscope.server.reading import as_bytes
from headscope.server.refusal import Refusal
from headscope.server.schemas import ExemplarsAnswer, RunAnswer, RunCorpus, RunModel, ServedExemplar
from headscope.server.settings import Settings
from headscope.statistics.exemplars import Exemplars
from headscope.study.manifest import NAME as MANIFEST
from headscope.study.manifest import describe_model, is_same_model
from headscope.study.run import Run
from headscope.views.schema import HeadStatistic

BY_WEIGHT = ("exemplars", "exemplars_without_first")  # tables of the strongest pairs
PAPER = "vig2019_exemplars"  # a table that has the texts


class _Found(NamedTuple):
    """A table of exemplars, and the texts that it names."""

    table: pd.DataFrame
    texts: exemplars.Texts
    computed: bool
    documents: int
    by_word: bool


class ServedRun:
    """A run directory beside the models of a server. Its files stay where they are: nobody gets one by its name."""

    def __init__(self, folder: Path, lenses: Mapping[str, Lens], settings: Settings) -> None:
        self.folder, self.lenses, self.settings = folder, lenses, settings
        self._run, self._changed = Run.open(folder), _last_changed(folder)
        self._exemplars: dict[str, _Found] = {}  # by measure
        self._report: bytes | None = None
        self._reporting = threading.Lock()

    @property
    def run(self) -> Run:
        """The run as it is now: opened again when its manifest or its tables have changed."""
        if (changed := _last_changed(self.folder)) != self._changed:
            self._run, self._changed, self._report = Run.open(self.folder), changed, None
        return self._run

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @cached_property
    def served(self) -> str | None:
        """The name of the run's own model among those that are served: the one with the same bytes."""
        own = self.run.manifest["model"]
        return next((name for name, lens in self.lenses.items() if is_same_model(describe_model(lens), own)), None)

    def describe(self) -> RunAnswer:
        run, manifest = self.run, self.run.manifest
        model = manifest["model"]
        return RunAnswer(
            name=self.name,
            paper=None if manifest["kind"] == "study" else manifest["kind"],
            finished=bool(manifest.get("finished")),
            model=RunModel(name=model["name"], architecture=model["architecture"], served=self.served),
            corpora=[_described(study.manifest["corpus"]) for study in run.studies],
            counts=manifest.get("counts", {}),
            versions=manifest.get("versions", {}),
            tables=run.tables,
            statistics=[cast(HeadStatistic, asdict(one)) for one in run.head_statistics],
        )

    def report(self) -> bytes:
        """What the report's page carries, as JSON in gzip: made in seconds, and kept until the run changes."""
        with self._reporting:  # who comes meanwhile waits for the same
            run = self.run
            if self._report is None:
                try:
                    self._report = as_bytes(description(run))
                except HeadscopeError as error:  # it is not finished, or has nothing to report
                    raise Refusal(404, str(error)) from error
            return self._report

    def paths(self) -> list[str]:
        """Where the run and its corpus are: what nobody is told."""
        files = [path for study in self.run.studies for path in study.manifest["corpus"].get("paths", [])]
        return [str(self.folder), str(self.folder.resolve()), *files]

    def exemplars(self, stack: str, kind: str, layer: int, head: int, measure: str, check: Check) -> ExemplarsAnswer:
        """The texts that excite one head: those that the run has counted, or else some that are read now."""
        answer: dict[str, Any] = {"stack": stack, "kind": kind, "layer": layer, "head": head, "measure": measure}
        if measure == "weight" and (written := self._written().get(Head(stack, kind, layer, head))):
            opened = self._opened(written, stack, kind)
            found_before = {"computed": False, "documents": self._documents(), "exemplars": opened}
            return ExemplarsAnswer.model_validate(answer | found_before)
        lens = self._lens()
        if not any((site.stack, site.kind, site.layer) == (stack, kind, layer) and head < site.heads for site in lens.sites):
            raise Refusal(404, f"{self.served} has no head {layer}.{head} in its {stack} {kind} attention.")
        found = self._exemplars.get(measure)
        if found is None:
            found = self._exemplars[measure] = self._counted(lens, measure, check)
        table = found.table
        same_head = table["head"].isna() | (table["head"] == head)  # a joint measure has one row for all heads
        rows = table[(table["stack"] == stack) & (table["kind"] == kind) & (table["layer"] == layer) & same_head]
        best = exemplars.marked(rows, found.texts, lens, by_word=found.by_word)
        opened = self._opened(best, stack, kind)
        answer |= {"computed": found.computed, "documents": found.documents, "exemplars": opened}
        return ExemplarsAnswer.model_validate(answer)

    def _opened(self, found: list[Exemplar], stack: str, kind: str) -> list[ServedExemplar]:
        """Each with what is read to see its pair: nothing, where the run's own model is not here to read it."""
        if self.served is None:
            return [{**one, "opens": None} for one in found]
        lens, most = self.lenses[self.served], self.settings.max_tokens
        return [{**one, "opens": excited_text(one, stack, kind, lens, most)} for one in found]

    def _written(self) -> dict[Head, list[Exemplar]]:
        """Exemplars whose texts stand in the run itself: they need neither the model nor the corpus."""
        counted = next((name for name in self.run if name.startswith("exemplars") and name != NAME), None)
        # The texts of a study are those of the first table that it has counted.
        tables = [NAME, PAPER] if counted in (*BY_WEIGHT, None) else [PAPER]
        return exemplars_of(Run.of({name: self.run[name] for name in tables if name in self.run}))

    def _lens(self) -> Lens:
        if self.served is None:
            model = self.run.manifest["model"]["name"]
            raise Refusal(404, f"This run is of {model}, which is not among the models here: serve it too.")
        return self.lenses[self.served]

    def _counted(self, lens: Lens, measure: str, check: Check) -> _Found:
        name = Exemplars(measure=measure).table_name
        try:
            documents = self.run.corpus()
        except InputError as error:
            raise Refusal(404, str(error)) from error
        for table_name in (name, f"{name}_without_first"):
            if table_name in self.run:
                table = self.run[table_name]
                texts = exemplars.find(documents, table["document"], check)
                by_word = any(study.manifest["settings"].get("by_word") for study in self.run.studies)
                return _Found(table, texts, False, self._documents(), by_word)
        limits = self.settings.exemplar_documents, self.settings.exemplar_tokens
        table, texts = exemplars.counted_now(lens, documents, measure, *limits, check)
        named = {number: texts[number] for number in set(table["document"]) & set(texts)}
        return _Found(table, named, True, len(texts), False)

    def _documents(self) -> int:
        corpora = [study.manifest["corpus"] for study in self.run.studies]
        return sum({corpus["fingerprint"]: corpus["documents"] for corpus in corpora}.values())


def _last_changed(folder: Path) -> list[int]:
    return [path.stat().st_mtime_ns for path in (folder / MANIFEST, folder / "tables") if path.exists()]


def _described(corpus: dict[str, Any]) -> RunCorpus:
    files = [Path(path).name for path in corpus.get("paths", [])]
    return RunCorpus(files=files, format=corpus.get("format"), documents=corpus["documents"])
