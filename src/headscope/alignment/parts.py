"""The links of a corpus in shards that survive a kill: each shard's are a file, written whole when it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headscope.alignment.link_files import read_links, write_links
from headscope.alignment.linking import Weighed
from headscope.alignment.score_files import read_scored, write_scored
from headscope.files import write_whole
from headscope.lens.lens import Lens
from headscope.lens.source import ModelSource
from headscope.statistics.kit.resampling import Array
from headscope.study.manifest import MadeWith
from headscope.study.results.workspace import Workspace
from headscope.study.shards import Shard, shards_of
from headscope.text import Corpus, Document
from headscope.text.links import Links, Pair

SHARD = 1024  # pairs: sorted by length within it, so that little is padding

Found = Weighed | frozenset[Pair]  # of a pair: with scores, or without
Linker = Callable[[Lens, Sequence[Document]], Sequence[Found]]  # what another process can be handed too
Learner = Callable[[Sequence[Document]], Sequence[Found]]


@dataclass(frozen=True)
class ShardLinks:
    """The links of a shard's documents, in their order."""

    index: int
    links: Sequence[Found]


@dataclass(frozen=True)
class Linking:
    """A model's recipe, and what finds links by it: work that another process can be handed."""

    source: ModelSource
    made_with: MadeWith
    linker: Linker
    side_by_side = 1  # a linker may ask for gradients

    def prepare(self, lens: Lens, shard: Shard) -> Shard:
        """As it is: a linker makes tokens of its documents in a way of its own."""
        return shard

    def count(self, lens: Lens, shard: Shard) -> ShardLinks:
        return ShardLinks(shard.index, self.linker(lens, shard.documents))


def link_part(workspace: Workspace, part: str, corpus: Corpus, lens: Lens, linker: Linker) -> Parts:
    """The links of every document in order, by a model. Each shard's are written whole to parts/`part` when it is done."""
    pairs = sum(1 for _ in corpus)
    parts = Parts(workspace.folder / "parts" / part, pairs, SHARD)
    bar = workspace.progress.part(part)
    missing = set(parts.missing())
    bar.begin(pairs, pairs - sum(map(parts.size, missing)))
    if missing:
        job = Linking(lens.source, MadeWith.of(lens), linker)
        for done in workspace.engine_for(lens).run(job, shards_of(corpus, SHARD, missing), bar):
            parts.write(done.index, done.links)
            bar.advance(parts.size(done.index))
    return parts


def link_whole(workspace: Workspace, part: str, corpus: Corpus, learn: Learner) -> Parts:
    """The same by what learns from all documents at once, without a model."""
    documents = list(corpus)
    parts = Parts(workspace.folder / "parts" / part, len(documents), len(documents))
    bar = workspace.progress.part(part)
    bar.begin(len(documents), 0)
    for index in parts.missing():
        parts.write(index, learn(documents))
    bar.advance(len(documents))
    return parts


@dataclass(frozen=True)
class Parts:
    """Files of links, one a shard; iterate over it for the links of every document in order."""

    folder: Path
    pairs: int
    at_once: int

    def __iter__(self) -> Iterator[Links]:
        for index in self._indices():
            yield from read_links(self._path(index), format="pharaoh")

    def weighed(self) -> Iterator[Weighed]:
        """With scores, and with shares where these were asked for; a shard at a time is in memory."""
        for index in self._indices():
            shares = _read_shares(self._path(index, "npz"))
            for place, links in enumerate(read_scored(self._path(index))):
                yield Weighed(links, shares.get(f"shares {place}"), shares.get(f"none {place}"))

    def size(self, index: int) -> int:
        return min(self.at_once, self.pairs - index * self.at_once)

    def write(self, index: int, links: Sequence[Found]) -> None:
        """What a shard has come to; the links come last, since a shard that has them is done."""
        weighed = [one for one in links if isinstance(one, Weighed)]
        if len(weighed) < len(links):
            write_links(self._path(index), (Links.of(one) for one in links if not isinstance(one, Weighed)))
            return
        shares = {
            f"{name} {place}": array
            for place, one in enumerate(weighed)
            for name, array in (("shares", one.shares), ("none", one.none))
            if array is not None
        }
        if shares:
            write_whole(self._path(index, "npz"), lambda unfinished: _write_shares(unfinished, shares))
        write_scored(self._path(index), (one.links for one in weighed))

    def missing(self) -> list[int]:
        return [index for index in self._indices() if self._kept(index) != self.size(index)]

    def _indices(self) -> range:
        return range(-(-self.pairs // self.at_once)) if self.pairs else range(0)

    def _kept(self, index: int) -> int:
        path = self._path(index)
        return sum(1 for _ in read_links(path, format="pharaoh")) if path.is_file() else -1

    def _path(self, index: int, ending: str = "txt") -> Path:
        return self.folder / f"{index:05d}.{ending}"


def _write_shares(path: Path, shares: Mapping[str, Array]) -> None:
    with path.open("wb") as file:
        np.savez(file, **shares)  # type: ignore[arg-type]  # names are those of arrays


def _read_shares(path: Path) -> dict[str, Array]:
    if not path.is_file():
        return {}
    with path.open("rb") as file, np.load(file) as arrays:
        return dict(arrays)
