"""The links of sentence pairs by chosen heads of a model, with their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from headscope.alignment.aligner import Aligner
from headscope.errors import InputError
from headscope.later import Tensor
from headscope.lens.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoder import BY_WORD, Encoding
from headscope.lens.tokens.encoding import Encoded
from headscope.lens.tokens.prompts import Prompt
from headscope.statistics.alignment.alignment_errors import aligning_sites
from headscope.statistics.alignment.sides import NO_LINK, sides_of
from headscope.statistics.kit.resampling import Array
from headscope.statistics.surface.null_attention import is_decoder_only
from headscope.text import Document
from headscope.text.links import Pair

Of = TypeVar("Of")


@dataclass(frozen=True)
class Weighed:
    """The links (source word, target word) of a pair, and the score of each, from 0 to 1.

    Where it is asked for, also what every source word has of every target word, `shares` (target word, source word), and
    what 'no link' has, `none` (target word,): to be multiplied with what another model says.
    """

    links: dict[Pair, float]
    shares: Array | None = None
    none: Array | None = None

    @property
    def kept_shares(self) -> tuple[Array, Array]:
        """`shares` and `none`, of what was weighed with shares."""
        if self.shares is None or self.none is None:
            raise ValueError("These links were weighed without their shares.")
        return self.shares, self.none

    def flipped(self) -> Weighed:
        """The links the other way round; the shares stay those of the model that gave them."""
        return replace(self, links={(target, source): score for (source, target), score in self.links.items()})


def link(
    lens: Lens,
    documents: Sequence[Document],
    choice: Aligner,
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
    found = weigh(lens, documents, choice, prompt=prompt, batch_size=batch_size)
    return [frozenset(one.links) for one in found]


def weigh(
    lens: Lens,
    documents: Sequence[Document],
    choice: Aligner,
    *,
    prompt: Prompt | None = None,
    batch_size: int = 16,
    shares: bool = False,
) -> list[Weighed]:
    """The same links with their scores, and with `shares` what every two words have of each other.

    The score of a link by a layer or head is the part of the target word's row that the source word has; of a set of heads
    the geometric mean of this and of the part of the source word's column that the target word has; of tuned heads what
    the regression says.
    """
    check_model(lens, prompt)
    for layer, head in choice.places:
        check_place(lens, layer, head)
    encoded = [encode_pair(lens, document, prompt or BY_WORD) for document in documents]
    return in_batches(lens, encoded, lambda batch: weigh_batch(lens, batch, choice, shares=shares), batch_size)


def weigh_batch(lens: Lens, batch: Batch, choice: Aligner, *, shares: bool = False) -> list[Weighed]:
    """Links and scores of each text of a batch."""
    sides, scores = batch.cached(sides_of), choice.word_scores(lens, batch)
    linked = choice.links(scores, sides).nonzero()
    strengths = choice.strengths(scores, sides)[linked.unbind(1)]
    found: list[dict[Pair, float]] = [{} for _ in batch.documents]
    for (text, target, source), strength in zip(linked.tolist(), strengths.tolist(), strict=True):
        found[text][source, target] = strength
    if not shares:
        return [Weighed(links) for links in found]
    of_words = choice.shares(scores).float().cpu().numpy()
    return [
        Weighed(links, *_cut(matrix, document, sides.source_count))
        for links, matrix, document in zip(found, of_words, batch.documents, strict=True)
    ]


def _cut(shares: Array, document: Document, columns: int) -> tuple[Array, Array]:
    """A text's own words out of a batch's (target word, column); words at the end that have no token have nothing."""
    targets, sources = len(document.target_words or ()), len(document.words or ())
    words, none = np.zeros((targets, sources), np.float32), np.zeros(targets, np.float32)
    own = shares[:targets]
    part = own[:, : min(sources, columns)]
    words[: len(part), : part.shape[1]] = part
    none[: len(own)] = own[:, columns:].sum(1)
    return words, none


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


def in_batches(lens: Lens, encoded: Sequence[Encoded], find: Callable[[Batch], Sequence[Of]], batch_size: int) -> list[Of]:
    """What `find` has for each of the encoded pairs, in their own order.

    Pairs of similar length go together, so that little is padding.
    """
    order = sorted(range(len(encoded)), key=lambda index: (len(encoded[index].source), len(encoded[index].target or ())))
    found: dict[int, Of] = {}
    for start in range(0, len(order), batch_size):
        some = order[start : start + batch_size]
        found.update(zip(some, find(lens.encoder.collate([encoded[index] for index in some])), strict=True))
    return [found[index] for index in range(len(encoded))]


def encode_pair(lens: Lens, document: Document, encoding: Encoding = BY_WORD) -> Encoded:
    """A sentence pair as tokens: each of its words by itself, or in a prompt."""
    try:
        return lens.encoder.encode(document, encoding=encoding)
    except InputError as error:
        raise InputError(f"{document.name or 'A pair'}: {error}") from error
