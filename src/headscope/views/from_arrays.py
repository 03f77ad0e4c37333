"""From arrays of your own, or the attentions that a model of transformers returns, to the content of a view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headscope.errors import InputError
from headscope.later import torch
from headscope.lens.sinks import known_sinks, parked_on, sinks_of
from headscope.lens.telling import Telling, ranked, telling_in
from headscope.views.choosing import Included, Only, heads_by_layer, heads_chosen
from headscope.views.content import Array, Attention, Content, Side
from headscope.views.from_reading import array_of, title_of

Layers = dict[int, Array]  # by the layer's number: (head, query, key)
_NONE = (
    "There are no attentions in what was given: a model returns them as outputs.attentions (outputs[-1] is often something "
    "else since transformers 5), and only if it is loaded with attn_implementation='eager' and output_attentions=True."
)


@dataclass(frozen=True)
class Group:
    """The maps of one kind of attention, by measure and layer."""

    stack: str
    kind: str
    query: str  # which side attends
    key: str
    scores: dict[str, Layers]

    @property
    def name(self) -> str:
        return f"{self.stack} {self.kind}"

    @property
    def weights(self) -> Layers:
        """What sinks are found by."""
        return self.scores.get("weight", next(iter(self.scores.values())))


def content_of_arrays(
    tokens: Sequence[str],
    scores: Any,
    *,
    key_tokens: Sequence[str] | None = None,
    special: Sequence[bool] | None = None,
    second: int | None = None,
    pretty: bool = True,
    only: Only | Included | None = None,
    title: str = "",
) -> Content:
    """Scores (layer, head, query, key), one measure or a dictionary of them; or one array a layer, as models return them.

    Fewer dimensions are taken as one layer, or one head of one layer. With `key_tokens`, the columns are other tokens
    than the rows (cross attention). Where rows give to all columns but later ones, they are a decoder's. `second` is the
    first token of the second of two texts; `pretty` tokens are without a tokenizer's marks.
    """
    given = {name: layers_of(one) for name, one in (scores if isinstance(scores, Mapping) else {"weight": scores}).items()}
    if not given:
        raise InputError("There are no scores to draw: give an array, or a dictionary of arrays by measure.")
    side = Side.plain(tokens, special, second=second, pretty=pretty)
    if key_tokens is not None:
        sides = {"target": side, "source": Side.plain(key_tokens, pretty=pretty)}
        return _content(sides, [Group("decoder", "cross", "target", "source", given)], only, title)
    group = Group("encoder", "self", "source", "source", given)
    stack = "decoder" if all(_is_causal(one) for one in group.weights.values()) else "encoder"
    return _content({"source": side}, [Group(stack, "self", "source", "source", given)], only, title)


def content_of_stacks(
    stacks: Mapping[str, Any],
    encoder_tokens: Sequence[str] | None,
    decoder_tokens: Sequence[str] | None,
    *,
    pretty: bool = True,
    only: Only | Included | None = None,
    title: str = "",
) -> Content:
    """The three kinds of attention of an encoder-decoder, or some of them: "encoder", "decoder" and "cross"."""
    tokens = {"source": encoder_tokens, "target": decoder_tokens}
    kinds = {
        "encoder": ("encoder", "self", "source", "source"),
        "decoder": ("decoder", "self", "target", "target"),
        "cross": ("decoder", "cross", "target", "source"),
    }
    groups = [Group(*kinds[name], {"weight": layers_of(scores)}) for name, scores in stacks.items()]
    for name, group in zip(stacks, groups, strict=True):
        for side in (group.query, group.key):
            if tokens[side] is None:
                called = {"source": "encoder", "target": "decoder"}[side]
                raise InputError(f"{name}_attention= has no tokens: give {called}_tokens= too.")
    needed = {side for group in groups for side in (group.query, group.key)}
    sides = {name: Side.plain(tokens[name] or (), pretty=pretty) for name in tokens if name in needed}
    return _content(sides, groups, only, title)


def layers_of(scores: Any) -> Layers:
    """(head, query, key) by layer: of an array, or of one array for each layer, with a batch of one text before or without.

    A layer that is None, as models return one without attention, is left out, and the others keep their numbers.

    >>> {layer: array.shape for layer, array in layers_of((None, np.ones((1, 2, 3, 3)))).items()}
    {1: (2, 3, 3)}
    """
    if isinstance(scores, (list, tuple)):
        found = {layer: one for layer, one in enumerate(scores) if one is not None}
        if not found:
            raise InputError(_NONE)
        if any(isinstance(one, (list, tuple)) and any(_dimensions(part) > 2 for part in one) for one in found.values()):
            raise InputError(
                "These are attentions of several passes, as generate() returns them: run the model once over the whole "
                "text, and give that pass's outputs.attentions."
            )
        if all(_dimensions(one) in (3, 4) for one in found.values()):
            return {layer: _finite(_one_text(array_of(one), 4)) for layer, one in found.items()}
    return dict(enumerate(_finite(_four(scores))))


def _content(sides: dict[str, Side], groups: Sequence[Group], only: Only | Included | None, title: str) -> Content:
    if not all(len(side) for side in sides.values()):
        raise InputError("There are no tokens to draw: tokens= and key_tokens= need at least one each.")
    found = [attention for group in groups for attention in _attentions(group, sides)]
    chosen = heads_chosen(only, heads_by_layer((one.layer, len(one.heads)) for one in found))
    if chosen is not None:
        found = [_part(one, sorted(set(chosen[one.layer]))) for one in found if one.layer in chosen]
    sinks, telling, parked = {}, {}, {}
    for group in groups:
        sinks[group.name], telling[group.name], parked[group.name] = _of_text(group, sides)
    found = [replace(one, parked=parked[one.group].get(one.layer)) for one in found]
    return Content(title or title_of(sides), sides, found, sinks=sinks, telling=telling)


def _attentions(group: Group, sides: Mapping[str, Side]) -> list[Attention]:
    queries, keys = len(sides[group.query]), len(sides[group.key])
    made = []
    for layer in sorted({layer for layers in group.scores.values() for layer in layers}):
        scores = {name: layers[layer] for name, layers in group.scores.items() if layer in layers}
        heads = max(len(array) for array in scores.values())
        for name, layers in group.scores.items():
            _check_shape(name, layers.get(layer), layer, heads, queries, keys)
        made.append(Attention(group.stack, group.kind, layer, list(range(heads)), group.query, group.key, scores))
    return made


def _part(attention: Attention, heads: list[int]) -> Attention:
    """Some heads of an attention; what is of all heads together stays."""
    whole = len(attention.heads)
    scores = {name: array[heads] if len(array) == whole else array for name, array in attention.scores.items()}
    return replace(attention, heads=heads, scores=scores)


def _of_text(group: Group, sides: Mapping[str, Side]) -> tuple[list[bool], list[Telling], dict[int, list[bool]]]:
    """Sinks, the heads that say most, and the sinks of each layer: of all heads that were given, also those not drawn."""
    attending, attended, causal = sides[group.query], sides[group.key], group.name == "decoder self"
    known, within = known_sinks(attended.special, causal), attending.raw if group.kind == "self" else None
    sizes = {layer: torch.from_numpy(np.abs(one)) for layer, one in group.weights.items()}
    parked = {layer: parked_on(one, torch.tensor(known), within is not None) for layer, one in sizes.items()}
    sinks, about = sinks_of(known, list(parked.values())), (attending.special, attended.special, causal, within)
    found = [head for layer, one in sizes.items() for head in telling_in(layer, one, *about, parked[layer])]
    return sinks, ranked(found, sinks), {layer: sinks_of(known, [one]) for layer, one in parked.items()}


def _one_text(array: Array, most: int) -> Array:
    """Without the dimension of the batch, where there is one beyond those of a layer or of layers."""
    axis = most - 4
    if array.ndim < most:
        return array
    if array.shape[axis] != 1:
        raise InputError(
            f"These attentions are of {array.shape[axis]} texts: a view draws one, so give those of one, as in "
            "[layer[:1] for layer in outputs.attentions], with its tokens."
        )
    return array[:, 0] if axis else array[0]


def _four(scores: Any) -> Array:
    try:
        array = array_of(scores)
    except (TypeError, ValueError) as error:
        raise InputError("Scores are an array of numbers, whose rows all have the same length.") from error
    if not 2 <= array.ndim <= 5:
        raise InputError(
            f"Scores have the dimensions (layer, head, query, key), or the last two or three: not {array.shape}."
        )
    array = _one_text(array, 5)
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def _finite(array: Array) -> Array:
    if not np.isfinite(array).all():
        raise InputError("Some scores are not finite numbers: a view can't draw them.")
    return array


def _is_causal(scores: Array) -> bool:
    """(head, query, key): no query of three or more sees a later key, and nearly all give something to all earlier ones, as
    a softmax does where its numbers are not too small."""
    if scores.shape[-1] != scores.shape[-2] or scores.shape[-1] < 3 or np.triu(scores, 1).any():
        return False
    return float((scores[..., np.tri(scores.shape[-1], dtype=bool)] > 0).mean()) > 0.9


def _check_shape(name: str, array: Array | None, layer: int, heads: int, queries: int, keys: int) -> None:
    shape = None if array is None else array.shape
    if shape not in [(1, queries, keys), (heads, queries, keys)]:
        raise InputError(
            f"The scores {name!r} of layer {layer} have the shape {shape}, but there are {heads} heads, {queries} tokens "
            f"that attend and {keys} that are attended to (a model's attentions are its outputs.attentions)."
        )


def _dimensions(one: Any) -> int:
    """Of an array; 0 for what is none, such as a list of numbers."""
    return int(getattr(one, "ndim", 0))
