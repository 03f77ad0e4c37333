"""The links of sentence pairs by chosen heads of a model, and of a corpus in shards that survive a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headscope.alignment.choice import Choice
from headscope.alignment.head_set import HeadSet
from headscope.alignment.link_files import read_links, write_links
from headscope.errors import InputError
from headscope.later import Tensor, torch
from headscope.lens.block import AttentionBlock
from headscope.lens.lens import Lens
from headscope.lens.source import ModelSource
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoder import BY_WORD, Encoding
from headscope.lens.tokens.encoding import Encoded
from headscope.lens.tokens.prompts import Prompt
from headscope.statistics.alignment.alignment_errors import aligning_sites
from headscope.statistics.alignment.picking import Picker
from headscope.statistics.alignment.sides import NO_LINK, SETTINGS, sides_of
from headscope.statistics.alignment.two_ways import mutual_links
from headscope.statistics.kit.site_rows import SiteRows
from headscope.statistics.surface.null_attention import is_decoder_only
from headscope.study.manifest import MadeWith
from headscope.study.results.workspace import Workspace
from headscope.study.shards import Shard, shards_of
from headscope.text import Corpus, Document
from headscope.text.links import Links, Pair

TINY = 1e-9  # a row of nothing stays one
SHARD = 1024  # pairs: sorted by length within it, so that little is padding

Linker = Callable[[Lens, Sequence[Document]], list[frozenset[Pair]]]  # what another process can be handed too
Learner = Callable[[Sequence[Document]], list[frozenset[Pair]]]


def link(
    lens: Lens,
    documents: Sequence[Document],
    choice: Choice | HeadSet,
    *,
    prompt: Prompt | None = None,
    batch_size: int = 16,
) -> list[frozenset[Pair]]:
    """The links (source word, target word) of each document, by forced decoding of its target.

    A layer or a head gives every target word its best source word; a set of heads is read from both sides (`two_ways`).

    A decoder-only model reads both sides in a prompt, and a row of the target looks back at the words of the source. Only
    these are candidates: the first token of a decoder takes most of the attention wherever there is nothing to look for,
    and as 'no link' it would win nearly every time. So every target word gets a link there, and AER is not to be compared
    with that of a model that can decline.
    """
    check_model(lens, prompt)
    for place in choice.readers if isinstance(choice, HeadSet) else (choice,):
        check_place(lens, place.layer, place.head)
    encoded = [encode_pair(lens, document, prompt or BY_WORD) for document in documents]
    if isinstance(choice, HeadSet):
        return in_batches(lens, encoded, lambda batch: set_links(lens, batch, choice), batch_size)
    return link_encoded(lens, encoded, lambda batch: choose_words(lens, batch, choice), batch_size)


def check_model(lens: Lens, prompt: Prompt | None = None) -> None:
    """An encoder-decoder, or a decoder with a prompt."""
    if prompt is None and not any(site.kind == "cross" for site in lens.sites):
        raise InputError(
            f"{lens.name} has no cross attention to align words by: give an encoder-decoder, or --prompt for a decoder."
        )
    if prompt is not None and not is_decoder_only(lens.sites):
        raise InputError(f"{lens.name} is not a decoder-only model, so it needs no prompt: leave --prompt out.")


def check_place(lens: Lens, layer: int, head: int | None) -> None:
    sites = {site.layer: site for site in aligning_sites(lens.sites)}
    if layer not in sites:
        raise InputError(f"There is no attention to align by in layer {layer}; choose one of {min(sites)} to {max(sites)}.")
    if head is not None and not 0 <= head < sites[layer].heads:
        raise InputError(f"There is no head {head} in layer {layer}; choose one of 0 to {sites[layer].heads - 1}.")


def link_encoded(
    lens: Lens, encoded: Sequence[Encoded], choose: Callable[[Batch], Tensor], batch_size: int
) -> list[frozenset[Pair]]:
    """The links of encoded pairs, in their own order, by `choose`: a batch -> (batch, target word)."""

    def find(batch: Batch) -> list[frozenset[Pair]]:
        found = []
        for document, words in zip(batch.documents, choose(batch).tolist(), strict=True):
            some = words[: len(document.target_words or ())]
            found.append(frozenset((source, target) for target, source in enumerate(some) if source != NO_LINK))
        return found

    return in_batches(lens, encoded, find, batch_size)


def in_batches(
    lens: Lens, encoded: Sequence[Encoded], find: Callable[[Batch], list[frozenset[Pair]]], batch_size: int
) -> list[frozenset[Pair]]:
    """The links of encoded pairs, in their own order, by `find`.

    Pairs of similar length go together, so that little is padding.
    """
    order = sorted(range(len(encoded)), key=lambda index: (len(encoded[index].source), len(encoded[index].target or ())))
    found: list[frozenset[Pair]] = [frozenset()] * len(encoded)
    for start in range(0, len(order), batch_size):
        some = order[start : start + batch_size]
        for index, links in zip(some, find(lens.encoder.collate([encoded[index] for index in some])), strict=True):
            found[index] = links
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


def set_scores(lens: Lens, batch: Batch, heads: HeadSet) -> Tensor:
    """(batch, target word, column): the heads' scores by words, every row of a head made to sum to 1, summed over heads."""
    kind, sides = "cross" if batch.has_target else "self", batch.cached(sides_of)
    rows = {setting: SiteRows[Tensor]() for setting in SETTINGS}
    found: list[Tensor] = []

    def receive(block: AttentionBlock) -> None:
        if block.site.stack != "decoder" or block.site.kind != kind:
            return
        for setting in SETTINGS:
            here = [one.head for one in heads.readers if (one.layer, one.setting) == (block.site.layer, setting)]
            if here:
                part = sides.merged(block.scores(heads.measure)[:, here], setting, block.rows)
                merged = rows[setting].complete(block, part)
                if merged is not None:
                    found.append((merged / merged.sum(-1, keepdim=True).clamp(min=TINY)).sum(1))

    lens.run(batch, receive)
    return torch.stack(found).sum(0)


def set_links(lens: Lens, batch: Batch, heads: HeadSet) -> list[frozenset[Pair]]:
    """The links of each text of a batch by heads together, read from both sides."""
    sides = batch.cached(sides_of)
    links = mutual_links(set_scores(lens, batch, heads), sides.spoken, sides.there)
    found: list[set[Pair]] = [set() for _ in batch.documents]
    for text, target, source in links.nonzero().tolist():
        found[text].add((source, target))
    return [frozenset(some) for some in found]


@dataclass(frozen=True)
class ShardLinks:
    """The links of a shard's documents, in their order."""

    index: int
    links: list[frozenset[Pair]]


@dataclass(frozen=True)
class Linking:
    """A model's recipe, and what finds links by it: work that another process can be handed."""

    source: ModelSource
    made_with: MadeWith
    linker: Linker

    def prepare(self, lens: Lens, shard: Shard) -> Shard:
        """As it is: a linker makes tokens of its documents in a way of its own."""
        return shard

    def count(self, lens: Lens, shard: Shard) -> ShardLinks:
        return ShardLinks(shard.index, self.linker(lens, shard.documents))


def link_part(workspace: Workspace, part: str, corpus: Corpus, lens: Lens, linker: Linker) -> Iterator[Links]:
    """The links of every document in order, by a model. Each shard's are written whole to parts/`part` when it is done."""
    pairs = sum(1 for _ in corpus)
    parts = _Parts(workspace.folder / "parts" / part, pairs, SHARD)
    bar = workspace.progress.part(part)
    missing = set(parts.missing())
    bar.begin(pairs, pairs - sum(map(parts.size, missing)))
    if missing:
        job = Linking(lens.source, MadeWith.of(lens), linker)
        for done in workspace.engine_for(lens).run(job, shards_of(corpus, SHARD, missing), bar):
            parts.write(done.index, done.links)
            bar.advance(parts.size(done.index))
    return parts.read()


def link_whole(workspace: Workspace, part: str, corpus: Corpus, learn: Learner) -> Iterator[Links]:
    """The same by what learns from all documents at once, without a model."""
    documents = list(corpus)
    parts = _Parts(workspace.folder / "parts" / part, len(documents), len(documents))
    bar = workspace.progress.part(part)
    bar.begin(len(documents), 0)
    for index in parts.missing():
        parts.write(index, learn(documents))
    bar.advance(len(documents))
    return parts.read()


@dataclass(frozen=True)
class _Parts:
    """Files of links, one a shard."""

    folder: Path
    pairs: int
    at_once: int

    def size(self, index: int) -> int:
        return min(self.at_once, self.pairs - index * self.at_once)

    def write(self, index: int, links: Sequence[frozenset[Pair]]) -> None:
        write_links(self._path(index), map(Links.of, links))

    def missing(self) -> list[int]:
        return [index for index in self._indices() if self._kept(index) != self.size(index)]

    def read(self) -> Iterator[Links]:
        for index in self._indices():
            yield from read_links(self._path(index), format="pharaoh")

    def _indices(self) -> range:
        return range(-(-self.pairs // self.at_once)) if self.pairs else range(0)

    def _kept(self, index: int) -> int:
        path = self._path(index)
        return sum(1 for _ in read_links(path, format="pharaoh")) if path.is_file() else -1

    def _path(self, index: int) -> Path:
        return self.folder / f"{index:05d}.txt"
