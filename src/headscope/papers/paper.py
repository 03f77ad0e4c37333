"""Paper: all tables and figures of one for any model: what it reads, what changes its numbers, its sections, its claims."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from headscope.errors import InputError
from headscope.garbage import all_is_loaded
from headscope.lens import Lens, ModelSource
from headscope.progress import Progress, Silent
from headscope.remote import as_path, is_remote
from headscope.statistics import Statistic
from headscope.study import Run
from headscope.study.engine import Engine
from headscope.study.manifest import check_corpora, check_run
from headscope.study.results.drawers import Drawers
from headscope.study.results.made import Made, asked_for
from headscope.study.results.result import Claim, Result, claims_result
from headscope.study.results.workspace import Workspace
from headscope.text import Corpus

D = TypeVar("D")
S = TypeVar("S")


class Section(NamedTuple):
    """Some results of a paper. They are left out, and that is said, without the data or if `make` raises Unsuitable."""

    makes: str  # "Table 1 (section 4.2)"
    needs: Sequence[str]  # fields of Data: one of them must be there
    make: Callable[[Any], Iterable[Result]]  # of the paper
    of: Sequence[str] = ()  # the studies whose texts it shows, where they are not called as what is needed


class Paper(Generic[D, S]):
    """A paper for one model, in the making: what its sections find out for each other are its cached properties.

    A new one is a folder with a subclass of this in `paper.py`, and a line in `papers/__init__.py`. What it reads and what
    changes its numbers are dataclasses whose fields are options (`papers/options.py`); of these, its docstring and its
    examples the command is made.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    data_type: ClassVar[type]
    settings_type: ClassVar[type]
    sections: ClassVar[Sequence[Section]]
    examples: ClassVar[Sequence[str]] = ()
    by_model: ClassVar[Collection[str]] = ()  # settings that follow from the model where they are None
    shard_size: ClassVar[int] = 32  # documents: small, so that a kill costs little

    def __init__(self, workspace: Workspace, data: D, settings: S, batch_size: int) -> None:
        self.workspace, self.lens = workspace, workspace.lens
        self.data, self.settings, self.batch_size = data, settings, batch_size

    @classmethod
    def run(
        cls,
        lens: Lens | ModelSource,
        data: D,
        settings: S | None = None,
        *,
        out: str | Path,
        batch_size: int = 16,
        engine: Engine | None = None,
        drawers: Drawers | None = None,
        progress: Progress | None = None,
    ) -> Run:
        """Make what there is data for, in the run directory `out`; run it again to go on after an interruption.

        The model is an open lens, or a recipe that is opened once all is checked that can be without it; not at all, where
        the run is there, of the same files and settings, and whole. `engine` counts its studies: here, or on a cluster.
        `drawers` draw its figures: here, when they are made, or in processes of their own.
        """
        cls.check_given(_given(data))
        chosen: S = settings or cls.settings_type()
        cls.check(chosen)
        _check_paths(data)
        folder, shown = as_path(out), progress or Silent()
        if is_remote(folder):  # its probes keep their features in files that are mapped into memory
            raise InputError(
                f"A paper's run is made on this machine, not at {folder}: give a folder, and copy it there after."
            )
        source = lens if isinstance(lens, ModelSource) else lens.source
        described = _described(chosen, batch_size)
        known = {name: value for name, value in described.items() if value is not None or name not in cls.by_model}
        check_run(folder, cls.name, source, known)
        corpora = check_corpora(folder, cls._fingerprints(data))
        asked = asked_for(source, {"data": data, "settings": described})
        if Made(folder).is_whole(asked):
            shown.say("Nothing has changed since this run was made: all of it is there.")
            return Run.open(folder)
        drawing = drawers or Drawers()
        drawing.begin()
        with lens.open() if isinstance(lens, ModelSource) else nullcontext(lens) as opened:
            all_is_loaded()
            settled = cls.settled(opened, chosen)
            described = _described(settled, batch_size)
            workspace = Workspace(cls.name, folder, opened, described, shown, corpora, engine, drawing)
            return cls(workspace, _for_model(data, opened), settled, batch_size)._made(asked)

    def _made(self, asked: str) -> Run:
        workspace = self.workspace
        workspace.begin()
        without_data: dict[str, list[str]] = {}
        for section in self.sections:
            if _given(self.data).intersection(section.needs):
                workspace.attempt(section.makes, partial(section.make, self), section.of or section.needs)
            else:
                without_data.setdefault(" or ".join(_flags(section.needs)), []).append(section.makes)
        workspace.left_out += [f"{', '.join(all)}: there is no data ({flags})." for flags, all in without_data.items()]
        claims = self.claims()
        workspace.add(claims_result(f"{self.name}_claims", claims, self.model))
        return workspace.finish(self.title, self.opening(claims), asked)

    @classmethod
    def _needed(cls) -> list[str]:
        """What sections need of the Data, which is what studies count."""
        return list(dict.fromkeys(name for section in cls.sections for name in section.needs))

    @classmethod
    def _fingerprints(cls, data: D) -> dict[str, str]:
        corpora = {name: getattr(data, name) for name in cls._needed()}
        return {name: corpus.fingerprint() for name, corpus in corpora.items() if corpus is not None}

    @classmethod
    def check_given(cls, given: Collection[str]) -> None:
        """Refuse to begin without anything that a section needs."""
        if not set(given).intersection(cls._needed()):
            *most, last = _flags(cls._needed())
            raise InputError(f"There is nothing to read: give at least one of {', '.join(most)} and {last}.")

    @classmethod
    def check(cls, settings: S) -> None:
        """An InputError where settings will not do, whatever the model: said before it is opened."""

    @classmethod
    def settled(cls, lens: Lens, settings: S) -> S:
        """The settings with what depends on the model (`by_model`); an InputError where they or the model will not do."""
        return settings

    @property
    def model(self) -> str:
        """The paper's own model, which its numbers are of."""
        raise NotImplementedError

    def claims(self) -> list[Claim]:
        """The numbers in the text of the paper, and this run's."""
        raise NotImplementedError

    def opening(self, claims: Sequence[Claim]) -> list[str]:
        """What stands first on the page."""
        raise NotImplementedError

    def study(
        self, part: str, corpus: Corpus, statistics: Sequence[Statistic], lens: Lens | None = None, **feed: Any
    ) -> Run:
        """A study in parts/`part`. The tables of the model itself, not of another lens, are among those of the run too."""
        feed = {"batch_size": self.batch_size, "shard_size": self.shard_size, "truncate": True, **feed}
        counted = self.workspace.study(part, corpus, statistics, lens, **feed)
        if lens is None:
            self.workspace.copy_tables(counted)
        return counted

    def at_most(self, tokens: int) -> int:
        """Tokens of a text: as many as are asked for, or what the model can read if that is less."""
        return min(tokens, self.lens.max_tokens or tokens)


def _given(data: Any) -> set[str]:
    return {name for name, value in vars(data).items() if value is not None}


def _for_model(data: D, lens: Lens) -> D:
    """What the model decides on, decided."""
    made: Any = {name: value.for_model(lens) for name, value in vars(data).items() if hasattr(value, "for_model")}
    return replace(data, **made)  # type: ignore[type-var]


def _check_paths(data: Any) -> None:
    for name, value in vars(data).items():
        if isinstance(value, Path) and not value.is_file():
            raise InputError(f"There is no file {value}: check what --{name} is given.")


def _described(settings: Any, batch_size: int) -> dict[str, Any]:
    """For the manifest, whose keys are sorted: what has an order of its own becomes a list."""
    named = {**asdict(settings), "batch_size": batch_size}
    return {name: list(value.items()) if isinstance(value, Mapping) else value for name, value in named.items()}


def _flags(names: Iterable[str]) -> list[str]:
    return [f"--{name}" for name in names]
