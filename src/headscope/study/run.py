"""Run: a finished study, paper or alignment as an object; each thing of it is loaded or computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from headscope.errors import InputError, no_such
from headscope.later import Later, pd
from headscope.lens.head import Head
from headscope.remote import as_path
from headscope.statistics.base import Statistic
from headscope.study.compare import side_by_side
from headscope.study.counted_corpus import documents_of
from headscope.study.facts import facts_of, title_of
from headscope.study.in_notebook import run_html
from headscope.study.manifest import load_manifest
from headscope.study.run_by_head import HeadStatistic, RunByHead
from headscope.study.tables import read_table, save_table, table_names
from headscope.text import Document


class Run:
    """A run directory: `run["entropy"]` and `run[Entropy(measure="norm")]` are tables, `run.tables` their names.

    >>> from headscope.lens.head import HEAD
    >>> run = Run.of({"entropy": pd.DataFrame([["encoder", "self", 5, 1, 0.5]], columns=[*HEAD, "entropy"])})
    >>> run.tables, [head.label for head in run.heads]
    (['entropy'], ['5.1'])
    """

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        self.manifest = manifest  # what was run, and on what
        self._tables: dict[str, pd.DataFrame] = {}

    @classmethod
    def open(cls, run: Run | str | Path) -> Run:
        """The run in a folder; a run that is open already is given back."""
        return run if isinstance(run, Run) else cls(as_path(run), load_manifest(as_path(run)))

    @classmethod
    def of(cls, tables: Mapping[str, pd.DataFrame], manifest: Mapping[str, Any] | None = None) -> Run:
        """Tables in memory, as a run has them."""
        run = cls(Path(), dict(manifest or {}))
        run._tables = dict(tables)
        run.tables = list(tables)
        return run

    def _repr_html_(self) -> str:
        return run_html(self, UPSTAIRS.picture(self))

    def __repr__(self) -> str:
        return f"<Run {self.folder}: {len(self.tables)} tables>"

    # Tables

    @cached_property
    def tables(self) -> list[str]:
        """The names of its tables."""
        return table_names(self.folder)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __contains__(self, table: object) -> bool:
        return table in self.tables

    def __getitem__(self, table: str | Statistic) -> pd.DataFrame:
        name = table if isinstance(table, str) else table.table_name
        if name not in self._tables:
            if name not in self.tables:
                if self.tables:
                    raise no_such("table", name, self.tables, str(self.folder))
                raise InputError(f"{self.folder} has no table {name!r}: it is not finished; run the same command again.")
            self._tables[name] = read_table(self.folder, name)
        return self._tables[name].copy(deep=False)  # who adds a column adds it to their own

    def get(self, table: str) -> pd.DataFrame | None:
        """A table, or None where the run has none of that name."""
        if table not in self:
            return None
        return self[table]

    def add(self, name: str, table: pd.DataFrame) -> None:
        """Keep one more table in the run directory; what was computed of the others is computed anew."""
        save_table(self.folder, name, table)
        self._tables[name] = table
        for computed in ("tables", "by_head", "roles"):
            self.__dict__.pop(computed, None)

    def with_table(self, name: str, table: pd.DataFrame) -> Run:
        """The same run with one more table, in memory alone."""
        made = Run(self.folder, self.manifest)
        made._tables = {**self._tables, name: table}
        made.tables = list(dict.fromkeys([*self.tables, name]))
        return made

    # Heads

    @cached_property
    def by_head(self) -> RunByHead:
        """Its numbers by head, table and column."""
        return RunByHead({name: self[name] for name in self.tables})

    @property
    def heads(self) -> list[Head]:
        """Every head that some table has: encoders first, then layer by layer."""
        return self.by_head.heads

    @property
    def head_statistics(self) -> list[HeadStatistic]:
        """Every number that it has once for each head: `entropy.entropy`, `distance.distance`, ..."""
        return self.by_head.statistics

    @cached_property
    def roles(self) -> pd.DataFrame:
        """One row a head: what it does, and the rule that says so."""
        return UPSTAIRS.roles(self)

    # What it was made of

    @cached_property
    def parts(self) -> dict[str, Run]:
        """By name, the studies that a paper's run is made of; none in a study's own run."""
        folders = sorted(file.parent for file in self.folder.glob("parts/*/manifest.json"))
        return {folder.name: Run.open(folder) for folder in folders}

    @property
    def studies(self) -> list[Run]:
        """The runs that have counted a corpus: this one, or for a paper's run its parts."""
        return [run for run in ([self] if "corpus" in self.manifest else self.parts.values()) if "corpus" in run.manifest]

    def corpus(self) -> Iterable[Document]:
        """Every document that it has counted, of all its studies, read again; an error says why they cannot be found."""
        return documents_of([run.manifest["corpus"] for run in self.studies])

    @property
    def title(self) -> str:
        """Its model's name, and the paper's, where it is one's."""
        return title_of(self.manifest)

    @property
    def facts(self) -> dict[str, str]:
        """What was run: the model, the corpus, the settings, the versions, a line each."""
        return facts_of(self.manifest, [run.manifest["corpus"] for run in self.studies])

    # What is made of it

    def compare(self, other: Run | str | Path, name: str) -> pd.DataFrame:
        """A table of this run and another, head by head: each column of both, and the second less the first."""
        other = Run.open(other)
        return side_by_side(self[name], other[name], f"the table {name} of {self.folder} and {other.folder}")

    def report(self, out: str | Path | None = None, other: Run | str | Path | None = None, *, title: str = "") -> Path:
        """Write one page with what every head does, by default RUN/report.html; with `other`, what differs there."""
        return UPSTAIRS.report(self, other, out=out, title=title)


class Upstairs:
    """What rooms above this one make of a run: known by name alone, and fetched when someone asks."""

    roles: Callable[[Run], pd.DataFrame] = Later("headscope.heads.roles", "roles")
    report: Callable[..., Path] = Later("headscope.report.page", "write_report")  # as Run.report
    picture: Callable[[Run], str] = Later("headscope.heads.role_map", "role_map")  # HTML, or nothing


UPSTAIRS = Upstairs()


def load_run(path: str | Path) -> Run:
    """A run on disk, of `study`, `align` or a paper: `load_run("RUN")["entropy"]` is a table of it."""
    return Run.open(path)


def compare(one: Run | str | Path, other: Run | str | Path, name: str) -> pd.DataFrame:
    """A table of two runs side by side, head by head: each column of both, and the second less the first."""
    return Run.open(one).compare(other, name)
