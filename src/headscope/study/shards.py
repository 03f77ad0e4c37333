"""A corpus cut into fixed shards: which documents belong together depends on their order alone."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from headscope.lens.tokens.encoding import Encoded
from headscope.text import Document
from headscope.text.pieces import Cut

SHARD = 256  # documents


class EncodedGroup(NamedTuple):
    """Documents of a shard that are counted together, as tokens."""

    group: int
    encoded: Sequence[Encoded]
    skipped: int  # documents that could not be


@dataclass(frozen=True)
class Shard:
    """Some consecutive documents."""

    index: int
    start: int  # the place of its first document in the corpus
    documents: Sequence[Document]
    encoded: Sequence[EncodedGroup] | None = None  # the same as tokens, once they are made


def shard_file(run: Path, index: int) -> Path:
    """Where the state of a shard is kept."""
    return run / "shards" / f"{index:06d}.safetensors"


def shards_there(run: Path) -> list[int]:
    """Which shards have a state: asked once for all of them, since a run may be elsewhere."""
    folder = shard_file(run, 0).parent
    names = [file.stem for file in folder.iterdir() if file.suffix == ".safetensors"] if folder.is_dir() else []
    return sorted(int(name) for name in names if name.isdecimal())


def shards_at(cut: Cut, documents: Iterable[Document], wanted: set[int]) -> Iterator[Shard]:
    """The wanted shards of a corpus, by their places where these are known, else with the documents themselves."""
    if cut.source is None:
        yield from shards_of(documents if cut.kept is None else cut.kept, cut.size, wanted)
        return
    for index in sorted(wanted):
        piece = cut.piece(index)
        assert piece is not None
        yield Shard(index, index * cut.size, piece)


def shards_of(documents: Iterable[Document], size: int, wanted: set[int]) -> Iterator[Shard]:
    """The wanted shards, in order; the documents of the others are passed over.

    >>> [shard.index for shard in shards_of([Document("a"), Document("b"), Document("c")], 2, {1})]
    [1]
    """
    documents = iter(documents)
    for index in range(max(wanted, default=-1) + 1):
        some = list(islice(documents, size))
        if index in wanted:
            yield Shard(index, index * size, some)
