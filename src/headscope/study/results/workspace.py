"""Workspace: a run directory that is made of studies that resume, results, and a page that holds them together."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headscope.errors import HeadscopeError
from headscope.files import write_text
from headscope.lens.lens import Lens
from headscope.progress import Progress, Silent
from headscope.statistics.base import Statistic
from headscope.study import Run, study
from headscope.study.engine import Engine, LocalEngine
from headscope.study.manifest import begin_run, save_manifest
from headscope.study.results import figures
from headscope.study.results.drawers import Drawers
from headscope.study.results.made import Made, content_of
from headscope.study.results.result import Result
from headscope.study.tables import save_table
from headscope.text import Corpus
from headscope.text.as_read import as_read, what_of


@dataclass
class Workspace:
    """Where the results of a paper, or of an alignment, are made for one model. Its studies have a folder each in parts/."""

    kind: str  # "clark2019", "align"
    folder: Path
    lens: Lens
    settings: dict[str, Any]
    progress: Progress = field(default_factory=Silent)
    corpora: dict[str, str] = field(default_factory=dict)  # by name, the fingerprints of what it reads
    engine: Engine | None = None  # who counts; without one it is done here
    drawers: Drawers = field(default_factory=Drawers)  # who draws; here, unless they are some
    results: list[Result] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # each a sentence: what, and why
    read: dict[str, list[str]] = field(default_factory=dict)  # what was read, in words, and by which of its studies

    def __post_init__(self) -> None:
        self.made = Made(self.folder)
        self.drawn: dict[str, str] = {}  # by the name of a result, the content of its figure
        self.texts: dict[str, str] = {}  # by the name of a study, the texts that it has read

    def begin(self) -> None:
        """Write the manifest, or check that the run there is of the same model, settings and versions."""
        self._manifest = begin_run(self.folder, self.kind, self.lens, self.settings, corpora=self.corpora)
        save_manifest(self.folder, {**self._manifest, "finished": False})

    def study(
        self, part: str, corpus: Corpus, statistics: Sequence[Statistic], lens: Lens | None = None, **feed: Any
    ) -> Run:
        """A study in parts/`part`, which goes on where it was interrupted."""
        out, progress = self.folder / "parts" / part, self.progress.part(part)
        run = study(lens or self.lens, corpus, statistics, out=out, engine=self.engine, progress=progress, **feed)
        cut = f"{part}, cut at {feed['max_tokens']} tokens" if feed.get("max_tokens") else part
        self.read.setdefault(as_read(run.manifest["corpus"]), []).append(cut)
        self.texts[part] = what_of(run.manifest["corpus"])
        return run

    def engine_for(self, lens: Lens) -> Engine:
        """Who works on shards with a model."""
        return self.engine or LocalEngine(lens)

    def copy_tables(self, run: Run) -> None:
        """The tables of a part, among those of the whole run."""
        for name in run.tables:
            save_table(self.folder, name, run[name])

    def add(self, result: Result, of: Sequence[str] = ()) -> Result:
        """Save a result; its figure says which model and texts it shows: those of `of`, where it names no studies itself."""
        result.save(self.folder)
        if result.figure is not None:
            parts = of if result.of is None else result.of
            texts = dict.fromkeys(self.texts[part] for part in parts if part in self.texts)
            figures.say(result.figure, " · ".join([result.models or self.lens.name, *texts]))
            self.drawn[result.name] = content_of(result.figure)
            if not self.made.is_drawn(result.name, self.drawn[result.name]):
                self.drawers.save(result.figure, self.folder / "figures" / result.name)
        self.results.append(result)
        return result

    def attempt(self, what: str, make: Callable[[], Iterable[Result]], of: Sequence[str] = ()) -> None:
        """Make some results, or say in a sentence why they are left out; `of` are the studies whose texts they show."""
        try:
            for result in make():
                self.add(result, of)
        except Unsuitable as reason:
            self.left_out.append(f"{what}: {reason}")

    def finish(self, title: str, opening: Sequence[str], asked: str = "") -> Run:
        """The page with all results, the finished manifest, and what the run was `asked` for, if that can be told again."""
        self.drawers.wait()
        name = f"{self.kind}.md"
        write_text(self.folder / name, self._page(title, opening))
        results = {result.name: result.title for result in self.results}
        made = {"finished": True, "results": results, "left_out": self.left_out, "page": name, "read": self.read}
        manifest = {**self._manifest, **made}
        save_manifest(self.folder, manifest)
        self.made.save(asked, self.drawn, name)
        return Run(self.folder, manifest)

    def _page(self, title: str, opening: Sequence[str]) -> str:
        parts = [f"# {title}\n", *(f"{line}\n" for line in opening)]
        if self.read:
            parts.append("Read:\n\n" + "\n".join(f"- {what}: {'; '.join(by)}" for what, by in self.read.items()) + "\n")
        for result in self.results:
            if result.figure is not None:
                parts.append(f"## {result.title}\n\n![{result.title}](figures/{result.name}.svg)\n")
                parts.append(f"Numbers: `headscope table RUN {result.name}`.\n")
                parts += [f"{note}\n" for note in result.notes]
            else:
                parts.append(result.markdown())
        if self.left_out:
            parts.append("## Left out\n\n" + "\n".join(f"- {line}" for line in self.left_out) + "\n")
        return "\n".join(parts)


class Unsuitable(HeadscopeError):
    """A result that this model or this data cannot have; the others are made all the same."""
