"""From a reading, or from arrays of your own, to the content of a view."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headscope.errors import HeadscopeError, InputError
from headscope.lens import AttentionBlock, Lens, Reading
from headscope.lens.sinks import TextSinks, known_sinks, parked_on, sinks_of
from headscope.lens.tokens.encoding import TokenSequence
from headscope.lens.tokens.labels import visible
from headscope.measures import MEASURES, can_have
from headscope.text import Document
from headscope.views.content import Array, Attention, Content, Neurons, Side

USUAL = ("weight", "norm", "joint_norm")
LARGEST = 400_000_000  # numbers of one measure in one page: above it, no browser would hold it
Only = Mapping[int, Sequence[int]]  # layer -> heads


def content_of(
    reading: Reading, measures: Sequence[str] = USUAL, *, neurons: bool = False, only: Only | None = None, title: str = ""
) -> Content:
    """What a view draws of a reading: always in pieces, which a page can merge to words itself.

    `only` keeps some heads: {3: [0, 1]}. A measure that cannot be had at a site (no norms there) is left out there;
    where none is left, the weight stands in for them.
    """
    chosen = _chosen(reading, only)
    for name in measures:
        if MEASURES[name].per_key:
            raise InputError(f"{name} is a number of each token, not of pairs: a view can't draw it; see the neuron view.")
    sides = {"source": _side(reading.batch.sources[0])}
    if reading.batch.targets:
        sides["target"] = _side(reading.batch.targets[0])
    check_numbers(sum(len(heads) * block.weights[0, 0].numel() for block, heads in chosen))
    attentions = [_attention(reading, block, measures, neurons, heads) for block, heads in chosen]
    sinks = TextSinks(reading.blocks.values()).by_group()  # of all heads that were read, also of those that are not drawn
    documents = reading.batch.documents
    shown = title or _title(sides, documents[0].text if documents else None)
    return Content(shown, sides, attentions, model=reading.model, sinks=sinks)


def content_of_arrays(
    tokens: Sequence[str],
    scores: Any,
    *,
    key_tokens: Sequence[str] | None = None,
    special: Sequence[bool] | None = None,
    title: str = "",
) -> Content:
    """The same from plain arrays: scores (layer, head, query, key), one measure or a dictionary of them.

    Fewer dimensions are taken as one layer, or one head of one layer. With `key_tokens`, the columns are other tokens
    than the rows (cross attention). Where no row gives anything to a later column, they are a decoder's.
    """
    given = {name: _four(array) for name, array in (scores if isinstance(scores, Mapping) else {"weight": scores}).items()}
    if not given:
        raise InputError("There are no scores to draw: give an array, or a dictionary of arrays by measure.")
    if not len(tokens) or (key_tokens is not None and not len(key_tokens)):
        raise InputError("There are no tokens to draw: tokens= and key_tokens= need at least one each.")
    weights = given.get("weight", next(iter(given.values())))
    stack, kind, query = ("encoder", "self", "source") if key_tokens is None else ("decoder", "cross", "target")
    if key_tokens is None and _is_causal(weights):
        stack = "decoder"
    sides = {query: Side.plain(tokens, special)}
    if key_tokens is not None:
        sides["source"] = Side.plain(key_tokens)
    layers, heads = max(array.shape[0] for array in given.values()), max(array.shape[1] for array in given.values())
    for name, array in given.items():
        _check_shape(name, array, layers, heads, len(sides[query]), len(sides["source"]))
    by_layer = [{name: array[layer] for name, array in given.items()} for layer in range(layers)]
    attentions = [
        Attention(stack, kind, layer, list(range(heads)), query, "source", found) for layer, found in enumerate(by_layer)
    ]
    known = known_sinks(sides["source"].special, attentions[0].is_causal)
    parked = [parked_on(torch.from_numpy(np.abs(one)), torch.tensor(known), kind == "self") for one in weights]
    return Content(title or _title(sides), sides, attentions, sinks={attentions[0].group: sinks_of(known, parked)})


def _attention(
    reading: Reading, block: AttentionBlock, measures: Sequence[str], neurons: bool, kept: list[int]
) -> Attention:
    site, sides = block.site, (block.attending.name, block.attended.name)
    names = [name for name in measures if can_have(site, name)] or ["weight"]
    scores = {name: _scores(block, name, kept) for name in names}
    norms = _array(block.scores("value_norm")[0, kept, 0]) if can_have(site, "value_norm") else None
    vectors = _neurons(reading, block, kept) if neurons else None
    return Attention(site.stack, site.kind, site.layer, kept, *sides, scores, norms, vectors)


def _scores(block: AttentionBlock, measure: str, heads: list[int]) -> Array:
    if measure == "norm" and len(heads) < block.site.heads:  # of all heads of a long text they would fill the memory
        return _array(block.weights[0, heads] * block.scores("value_norm")[0, heads, :1])
    scores = block.scores(measure)[0]
    return _array(scores if MEASURES[measure].joint else scores[heads])


def _neurons(reading: Reading, block: AttentionBlock, heads: list[int]) -> Neurons | None:
    """Queries and keys of the heads that are kept; None where the model does not show them."""
    site = block.site
    try:
        found = reading.neurons(site.layer, kind=site.kind, stack=site.stack)
    except HeadscopeError:
        return None
    queries, keys = _array(found.queries), _array(found.keys)
    if len(heads) < site.heads:
        shared = site.heads // len(keys)
        queries, keys = queries[heads], keys[[head // shared for head in heads]]
    return Neurons(queries, keys, float(found.scaling), bool(found.exact), found.why or "")


def _chosen(reading: Reading, only: Only | None) -> list[tuple[AttentionBlock, list[int]]]:
    """The attentions that are drawn, and which of their heads."""
    blocks = list(reading.blocks.values())
    if only is None:
        return [(block, list(range(block.site.heads))) for block in blocks]
    for layer, some in only.items():
        here = [block.site for block in blocks if block.site.layer == layer]
        if not here:
            there = ", ".join(str(number) for number in sorted({block.site.layer for block in blocks}))
            raise InputError(f"There is no layer {layer} in this reading: it has {there}.")
        for head in some:
            if any(head not in range(site.heads) for site in here):
                raise InputError(f"There is no head {layer}.{head}: layer {layer} has heads 0 to {here[0].heads - 1}.")
    return [(block, sorted(set(only[block.site.layer]))) for block in blocks if block.site.layer in only]


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


def _side(sequence: TokenSequence) -> Side:
    word_of = [0] * len(sequence)
    for number, pieces in enumerate(sequence.groups()[1]):
        for piece in pieces:
            word_of[piece] = number
    return Side(
        sequence.readable(), list(sequence.tokens), list(sequence.special), sequence.readable("word"), word_of,
        list(sequence.segments),
    )  # fmt: skip


def _title(sides: Mapping[str, Side], text: str | None = None) -> str:
    """The beginning of the text."""
    side = sides["source"]
    specials = {side.word_of[piece] for piece, special in enumerate(side.special) if special}
    words = [word for index, word in enumerate(side.words) if index not in specials] if text is None else text.split()
    words = words or side.words  # nothing but special tokens
    shown = [visible(word) for word in words[:14]]
    return " ".join(shown) + (" …" if len(words) > len(shown) else "")


def _four(scores: Any) -> Array:
    try:
        array = _array(scores)
    except (TypeError, ValueError) as error:
        raise InputError("Scores are an array of numbers, whose rows all have the same length.") from error
    if not 2 <= array.ndim <= 4:
        raise InputError(
            f"Scores have the dimensions (layer, head, query, key), or the last two or three: not {array.shape}."
        )
    if not np.isfinite(array).all():
        raise InputError("Some scores are not finite numbers: a view can't draw them.")
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def _is_causal(scores: Array) -> bool:
    """(layer, head, query, key): no query of three or more sees a later key, and some see earlier ones."""
    if scores.shape[-1] != scores.shape[-2] or scores.shape[-1] < 3:
        return False
    return not np.triu(scores, 1).any() and bool(np.tril(scores, -1).any())


def _check_shape(name: str, array: Array, layers: int, heads: int, queries: int, keys: int) -> None:
    if array.shape not in [(layers, 1, queries, keys), (layers, heads, queries, keys)]:
        raise InputError(
            f"The scores {name!r} have the shape {array.shape}, but there are {layers} layers, {heads} heads, "
            f"{queries} tokens that attend and {keys} that are attended to."
        )


def _array(numbers: Any) -> Array:
    if isinstance(numbers, Tensor):
        numbers = numbers.detach().cpu().float().numpy()
    return np.ascontiguousarray(numbers, dtype=np.float32)
