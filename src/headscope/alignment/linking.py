"""The links of a parallel corpus by one chosen attention: streamed, in order, in shards that survive a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from torch import Tensor

from headscope.alignment.choice import Choice
from headscope.errors import InputError
from headscope.files import write_text
from headscope.lens.block import AttentionBlock
from headscope.lens.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoder import BY_WORD, Encoding
from headscope.lens.tokens.encoding import Encoded
from headscope.statistics.alignment.picking import Picker
from headscope.statistics.alignment.sides import NO_LINK
from headscope.text import Corpus, Document
from headscope.text.links import Pair

SHARD = 1024  # pairs: sorted by length within it, so that little is padding


def link(lens: Lens, documents: Sequence[Document], choice: Choice, batch_size: int = 16) -> list[frozenset[Pair]]:
    """The links (source word, target word) of each document, by forced decoding of its target."""
    encoded = [encode_pair(lens, document) for document in documents]
    return link_encoded(lens, encoded, lambda batch: choose_words(lens, batch, choice), batch_size)


def link_encoded(
    lens: Lens, encoded: Sequence[Encoded], choose: Callable[[Batch], Tensor], batch_size: int
) -> list[frozenset[Pair]]:
    """The links of encoded pairs, in their own order, by `choose`: a batch -> (batch, target word).

    Pairs of similar length go together, so that little is padding.
    """
    order = sorted(range(len(encoded)), key=lambda index: (len(encoded[index].source), len(encoded[index].target or ())))
    found: list[frozenset[Pair]] = [frozenset()] * len(encoded)
    for start in range(0, len(order), batch_size):
        some = order[start : start + batch_size]
        chosen = choose(lens.encoder.collate([encoded[index] for index in some])).tolist()
        for index, words in zip(some, chosen, strict=True):
            count = len(encoded[index].document.target_words or ())
            found[index] = frozenset((source, target) for target, source in enumerate(words[:count]) if source != NO_LINK)
    return found


def encode_pair(lens: Lens, document: Document, encoding: Encoding = BY_WORD) -> Encoded:
    """A sentence pair as tokens: each of its words by itself, or in a prompt."""
    try:
        return lens.encoder.encode(document, encoding=encoding)
    except InputError as error:
        raise InputError(f"{document.name or 'A pair'}: {error}") from error


def choose_words(lens: Lens, batch: Batch, choice: Choice) -> Tensor:
    """(batch, target word): the source word of each, by cross attention, or by a decoder's self attention."""
    kind = "cross" if batch.has_target else "self"
    picker = Picker(choice.setting, choice.scores)
    found: list[Tensor] = []

    def receive(block: AttentionBlock) -> None:
        if block.site.stack == "decoder" and block.site.kind == kind and block.site.layer == choice.layer:
            chosen = picker(block)
            if chosen is not None:
                found.append(chosen[:, choice.head or 0])

    lens.run(batch, receive)
    return found[0]


def link_corpus(
    work: Callable[[Sequence[Document]], list[frozenset[Pair]]],
    corpus: Corpus,
    folder: Path,
    advance: Callable[[int], None],
    shard: int | None = None,
) -> Iterator[frozenset[Pair]]:
    """The links of every document in order. Each shard's are written whole to `folder`; those that are there are read."""
    documents = iter(corpus)
    number = 0
    while some := list(islice(documents, shard or SHARD)):
        path = folder / f"{number:05d}.txt"
        found = _read(path, len(some))
        if found is None:
            found = work(some)
            write_text(path, _lines(found))
        yield from found
        advance(len(some))
        number += 1


def _lines(found: Sequence[frozenset[Pair]]) -> str:
    return "".join(" ".join(f"{source}-{target}" for source, target in sorted(links)) + "\n" for links in found)


def _read(path: Path, count: int) -> list[frozenset[Pair]] | None:
    if not path.is_file():
        return None
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    if len(lines) != count:
        return None
    return [frozenset((int(pair.split("-")[0]), int(pair.split("-")[1])) for pair in line.split()) for line in lines]
