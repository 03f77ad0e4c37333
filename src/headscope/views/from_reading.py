"""From a reading to the content of a view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headscope.errors import HeadscopeError, InputError
from headscope.later import Tensor
from headscope.lens import AttentionBlock, Lens, Reading, Site
from headscope.lens.sinks import TextSinks, sinks_in
from headscope.lens.telling import TextTelling
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import TokenSequence
from headscope.lens.tokens.labels import visible
from headscope.measures import MEASURES, can_have
from headscope.text import Document
from headscope.views.choosing import Included, Only, heads_by_layer, heads_chosen
from headscope.views.content import Array, Attention, Content, Neurons, Side

USUAL = ("weight", "norm", "joint_norm")
# A page for one sentence holds everything; from so many numbers a measure on, the largest parts come when asked for.
EFFECTIVE_BELOW = 2_000_000
NEURONS_BELOW = 400_000
LARGEST = 400_000_000  # numbers of one measure in one page: above it, no browser would hold it


def content_of(
    reading: Reading,
    measures: Sequence[str] = USUAL,
    *,
    neurons: bool = False,
    only: Only | Included | None = None,
    title: str = "",
) -> Content:
    """What a view draws of a reading: always in pieces, which a page can merge to words itself.

    `only` keeps some heads: {3: [0, 1]}. A measure that cannot be had at a site (no norms there) is left out there;
    where none is left, the weight stands in for them.
    """
    chosen = _chosen(reading, only)
    for name in measures:
        if MEASURES[name].per_key:
            raise InputError(f"{name} is a number of each token, not of pairs: a view can't draw it; see the neuron view.")
    sides = sides_of(reading.batch)
    check_numbers(sum(len(heads) * block.weights[0, 0].numel() for block, heads in chosen))
    attentions = [_attention(reading, block, measures, neurons, heads) for block, heads in chosen]
    sinks = TextSinks(reading.blocks.values()).by_group()  # of all heads that were read, also of those that are not drawn
    telling = TextTelling(reading.blocks.values()).by_group(sinks)
    documents = reading.batch.documents
    shown = title or title_of(sides, documents[0].text if documents else None)
    return Content(shown, sides, attentions, model=reading.model, sinks=sinks, telling=telling)


def held(view: str, measures: Sequence[str] | None, asked: Sequence[str], numbers: int) -> tuple[list[str], bool]:
    """The measures that a page holds, and whether queries and keys: by how many numbers a measure of all heads has."""
    usual = (*USUAL, "effective") if numbers <= EFFECTIVE_BELOW else USUAL
    return list(dict.fromkeys((*(measures or usual), *asked))), view == "neuron" or numbers <= NEURONS_BELOW


def check_asked(content: Content, asked: Sequence[str], sites: Sequence[Site]) -> None:
    """Say that a measure that was asked for is nowhere to be had."""
    for name in asked:
        if name not in content.measures:
            why = sites[0].why_no_norms
            raise InputError(f"The measure {name!r} can't be had of this model, because {why}: there is 'weight'.")


def _attention(
    reading: Reading, block: AttentionBlock, measures: Sequence[str], neurons: bool, kept: list[int]
) -> Attention:
    site, sides = block.site, (block.attending.name, block.attended.name)
    names = names_at(site, measures)
    scores = {name: scores_of(block, name, kept) for name in names}
    norms = array_of(block.scores("value_norm")[0, kept, 0]) if site.has_value_norms else None
    vectors = _neurons(reading, block, kept) if neurons else None
    return Attention(site.stack, site.kind, site.layer, kept, *sides, scores, norms, vectors, sinks_in(block))


def names_at(site: Site, measures: Sequence[str]) -> list[str]:
    """Those of some measures that can be had at a site; the weight, where none can."""
    return [name for name in measures if can_have(site, name)] or ["weight"]


def scores_of(block: AttentionBlock, measure: str, heads: list[int]) -> Array:
    """(head, row, key) of some heads; of all together (1, row, key)."""
    if (
        measure == "norm" and block.site.has_value_norms and len(heads) < block.site.heads
    ):  # of all heads of a long text they would fill the memory
        return array_of(block.weights[0, heads] * block.scores("value_norm")[0, heads, :1])
    scores = block.scores(measure)[0]
    return array_of(scores if MEASURES[measure].joint else scores[heads])


def _neurons(reading: Reading, block: AttentionBlock, heads: list[int]) -> Neurons | None:
    """Queries and keys of the heads that are kept; None where the model does not show them."""
    site = block.site
    try:
        found = reading.neurons(site.layer, kind=site.kind, stack=site.stack)
    except HeadscopeError:
        return None
    queries, keys = found.queries, found.keys
    if len(heads) < site.heads:
        queries, keys = queries[heads], keys_of(keys, heads, site.heads)
    return Neurons(array_of(queries), array_of(keys), float(found.scaling), bool(found.exact), found.why or "")


def keys_of(keys: Tensor, heads: list[int], of: int) -> Tensor:
    """(group, key, d) -> (head, key, d): the keys of some of `of` heads, of which some may share a group."""
    return keys[[head * len(keys) // of for head in heads]]


def _chosen(reading: Reading, only: Only | Included | None) -> list[tuple[AttentionBlock, list[int]]]:
    """The attentions that are drawn, and which of their heads."""
    blocks = list(reading.blocks.values())
    chosen = heads_chosen(only, heads_by_layer((block.site.layer, block.site.heads) for block in blocks))
    if chosen is None:
        return [(block, list(range(block.site.heads))) for block in blocks]
    return [(block, sorted(set(chosen[block.site.layer]))) for block in blocks if block.site.layer in chosen]


def check_length(lens: Lens, document: Document, only: Only | None = None, *, truncate: bool = False) -> None:
    """Say that a text is too long for a view of these heads before the model reads it, and memory is full."""
    encoded = lens.encoder.encode(document, truncate=truncate)
    source, target = len(encoded.source), len(encoded.target or ())
    pairs = {
        ("encoder", "self"): source**2,
        ("decoder", "self"): (target or source) ** 2,
        ("decoder", "cross"): source * target,
    }
    heads = ((site, site.heads if only is None else len(only.get(site.layer, ()))) for site in lens.sites)
    check_numbers(sum(count * pairs[site.stack, site.kind] for site, count in heads))


def check_numbers(numbers: int, instead: str = "choose fewer heads, as in only={3: [0, 1]} or --only 3.0,3.1") -> None:
    """Say that a text is too long, and what to do instead."""
    if numbers > LARGEST:
        raise InputError(
            f"A view of this text would hold {numbers / 1e6:,.0f} million numbers, more than a browser can "
            f"({LARGEST / 1e6:,.0f} million): {instead}."
        )


def sides_of(batch: Batch) -> dict[str, Side]:
    """The texts of a batch of one."""
    sides = {"source": _side(batch.sources[0])}
    return {**sides, "target": _side(batch.targets[0])} if batch.targets else sides


def _side(sequence: TokenSequence) -> Side:
    word_of = [0] * len(sequence)
    for number, pieces in enumerate(sequence.groups()[1]):
        for piece in pieces:
            word_of[piece] = number
    return Side(
        sequence.readable(), list(sequence.tokens), list(sequence.special), sequence.readable("word"), word_of,
        list(sequence.segments),
    )  # fmt: skip


def title_of(sides: Mapping[str, Side], text: str | None = None) -> str:
    """The beginning of the text."""
    side = sides.get("source") or next(iter(sides.values()))
    specials = {side.word_of[piece] for piece, special in enumerate(side.special) if special}
    words = [word for index, word in enumerate(side.words) if index not in specials] if text is None else text.split()
    words = words or side.words  # nothing but special tokens
    shown = [visible(word) for word in words[:14]]
    return " ".join(shown) + (" …" if len(words) > len(shown) else "")


def array_of(numbers: Any) -> Array:
    """Numbers of torch, numpy or Python as pages hold them."""
    if isinstance(numbers, Tensor):
        numbers = numbers.detach().cpu().float().numpy()
    return np.ascontiguousarray(numbers, dtype=np.float32)
