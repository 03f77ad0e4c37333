"""Content as a page carries it: a description in JSON, and chunks of compressed bytes.

A score is a byte (see quantise.py), or a float where exact values are asked for. A norm has no bytes of its own: it is
the weight times ||f(x_j)||. Every attention is one chunk, so that a page unpacks the layer that it draws and no other.
"""

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import numpy as np

from headscope.lens.telling import Telling
from headscope.measures import MEASURES
from headscope.views import schema
from headscope.views.content import Array, Attention, Content, Neurons
from headscope.views.quantise import Quantised, error, quantise, quantise_with_norms

FORMAT = 1


@dataclass
class Packed:
    """What goes into a page: `description` is plain JSON; its references count `chunks` from 0."""

    description: schema.Content
    chunks: list[str]  # zlib-compressed, base64


@dataclass
class _Chunk:
    """Arrays one after another, and where each begins."""

    number: int
    parts: list[bytes] = field(default_factory=list)
    length: int = 0

    def add(self, array: np.ndarray) -> schema.Place:
        """Where the array is. Four-byte numbers begin at a multiple of four."""
        padding = -self.length % array.itemsize
        raw = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
        place: Any = {
            "chunk": self.number,
            "offset": self.length + padding,
            "type": {"float32": "f4", "uint8": "u1", "int8": "i1"}[array.dtype.name],
            "shape": list(array.shape),
        }
        self.parts += [bytes(padding), raw]
        self.length += padding + len(raw)
        return place

    def compressed(self, level: int) -> str:
        return base64.b64encode(zlib.compress(b"".join(self.parts), level)).decode("ascii")


def pack(content: Content, *, exact: bool = False, level: int = 6, first: int = 0) -> Packed:
    """The content for a page; `exact` keeps every score as a float of four bytes.

    `level` is zlib's: 6 for files that are kept, 1 (three times as fast) for answers that are looked at once. `first` is the
    number of the first chunk, where there are others before it.
    """
    if content.compared is not None:
        a = pack(content.compared.a, exact=exact, level=level, first=first)
        b = pack(content.compared.b, exact=exact, level=level, first=first + len(a.chunks))
        return packed_difference(content, a, b)
    chunks: list[str] = []
    packed = []
    for number, attention in enumerate(content.attentions, first):
        chunk = _Chunk(number)
        packed.append(_attention(attention, chunk, exact))
        chunks.append(chunk.compressed(level))
    return Packed(
        {
            "format": FORMAT,
            "title": content.title,
            "model": content.model,
            "sides": _sides(content),
            "sinks": content.sinks,
            "telling": telling_json(content.telling),
            "roles": content.roles,
            "attentions": [description for description, _ in packed],
            "measures": [measure_json(name) for name in content.measures],
            "statistics": _statistics(content),
            "error": max(
                (off for _, off in packed), default=0.0
            ),  # the largest of all, as a part of the largest score of its head
            "exact": exact,
            "compared": None,
        },
        chunks,
    )


def packed_difference(content: Content, a: Packed, b: Packed) -> Packed:
    """Both of what is compared, attention by attention; a page takes the one from the other. So it is no larger than two."""
    assert content.compared is not None
    attentions = [_difference(*both) for both in zip(a.description["attentions"], b.description["attentions"], strict=True)]
    whole: schema.Content = {
        **a.description,
        "title": content.title,
        "model": content.model,
        "sides": _sides(content),
        "sinks": content.sinks,
        "telling": {},  # what changed most stands first, not what says most about either
        "roles": content.roles,
        "attentions": attentions,
        "measures": [one for one in a.description["measures"] if any(one["name"] in each["scores"] for each in attentions)],
        "statistics": _statistics(content),
        "error": max(a.description["error"], b.description["error"]),
        "compared": {
            "a": {"title": content.compared.a.title, "model": content.compared.a.model},
            "b": {"title": content.compared.b.title, "model": content.compared.b.model},
            "notes": content.compared.notes,
        },
    }
    return Packed(whole, [*a.chunks, *b.chunks])


def _difference(a: schema.Attention, b: schema.Attention) -> schema.Attention:
    names = [name for name in a["scores"] if name in b["scores"]]
    parts: list[schema.Part] = [
        {"scores": {name: one["scores"][name] for name in names}, "value_norm": one["value_norm"]} for one in (a, b)
    ]
    scores: dict[str, schema.Encoded] = {name: {"form": "difference"} for name in names}
    return {**a, "scores": scores, "value_norm": None, "neurons": None, "parts": parts}


def _sides(content: Content) -> dict[str, schema.Side]:
    return {name: cast(schema.Side, asdict(side)) for name, side in content.sides.items()}


def _statistics(content: Content) -> list[schema.HeadStatistic]:
    return [cast(schema.HeadStatistic, asdict(one)) for one in content.statistics]


def telling_json(telling: Mapping[str, Sequence[Telling]]) -> dict[str, list[schema.TellingHead]]:
    """The heads that say most about a text, by group, as a page has them."""
    return {group: [cast(schema.TellingHead, one._asdict()) for one in found] for group, found in telling.items()}


def _attention(attention: Attention, chunk: _Chunk, exact: bool) -> tuple[schema.Attention, float]:
    scores: dict[str, schema.Encoded] = {}
    errors = [0.0]
    factors = None if exact else _factors(attention)
    apart = None if attention.parked is None else np.array(attention.parked, dtype=bool)
    for name, array in attention.scores.items():
        if name == "norm" and factors is not None:
            continue  # made of the weights, below
        if name != "weight" and "weight" in scores and _same(array, attention.scores["weight"]):
            scores[name] = {"form": "same", "of": "weight"}
        elif exact:
            scores[name] = {"form": "floats", "at": chunk.add(array)}
        elif name == "weight" and factors is not None:
            kept = quantise_with_norms(array, factors, apart)
            scores[name] = _levels(kept, chunk)
            approximate = kept.scores()
            errors += [error(array, approximate), error(attention.scores["norm"], approximate * factors[:, None, :])]
        else:
            kept = quantise(array, apart)
            scores[name] = _levels(kept, chunk)
            errors.append(error(array, kept.scores()))
    value_norm = None if attention.value_norm is None else chunk.add(attention.value_norm)
    if value_norm is not None and factors is not None:
        scores["norm"] = {"form": "product", "of": "weight", "factor": value_norm}
    return {
        "stack": attention.stack,
        "kind": attention.kind,
        "layer": attention.layer,
        "heads": attention.heads,
        "query": attention.query,
        "key": attention.key,
        "scores": {name: scores[name] for name in attention.scores},
        "value_norm": value_norm,
        "neurons": None if attention.neurons is None else _neurons(attention.neurons, chunk, exact),
        "parts": None,
    }, max(errors)


def _factors(attention: Attention) -> Array | None:
    """The norms of the values, where norms are the weights times them: in pieces they are, merged to words not."""
    if attention.value_norm is None or not {"weight", "norm"} <= set(attention.scores):
        return None
    product = attention.scores["weight"] * attention.value_norm[:, None, :]
    return attention.value_norm if np.allclose(product, attention.scores["norm"], rtol=1e-4, atol=1e-6) else None


def _same(one: Array, other: Array) -> bool:
    near = 1e-5 * float(np.abs(other).max(initial=0))
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=0, atol=near))


def _levels(kept: Quantised, chunk: _Chunk) -> schema.Levels:
    return {"form": "levels", "at": chunk.add(kept.levels), "steps": chunk.add(kept.steps), "zeros": chunk.add(kept.zeros)}


def _neurons(neurons: Neurons, chunk: _Chunk, exact: bool) -> schema.Neurons:
    return {
        "queries": _vectors(neurons.queries, chunk, exact),
        "keys": _vectors(neurons.keys, chunk, exact),
        "scaling": neurons.scaling,
        "exact": neurons.exact,
        "why": neurons.why,
    }


def _vectors(vectors: Array, chunk: _Chunk, exact: bool) -> schema.Vectors:
    """(head, token, d_head): signed bytes, each head's with a step of its own."""
    if exact:
        return {"form": "floats", "at": chunk.add(vectors)}
    steps = np.abs(vectors).max((1, 2), keepdims=True, initial=0) / 127.5
    levels = np.clip(np.rint(vectors / np.where(steps == 0, 1, steps)), -128, 127).astype(np.int8)
    return {"form": "levels", "at": chunk.add(levels), "steps": chunk.add(steps[:, 0].astype(np.float32))}


def measure_json(name: str) -> schema.Measure:
    """A measure as a page names it; it may be one of somebody's own arrays, which nobody has registered."""
    known = MEASURES.get(name)
    return {
        "name": name,
        "title": known.title if known else name.replace("_", " "),
        "about": known.about if known else "",
        "joint": bool(known and known.joint),
        "signed": bool(known and known.signed),
    }
