"""Some heads of a long text: their scores are taken out of the model's pass, some rows at a time.

A reading holds all heads of a layer, which are gigabytes where a text has thousands of tokens. What a view of single heads
holds are their own scores; all other heads are looked at as they pass, for what is of a whole layer: its sinks, joint norms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headscope.errors import HeadscopeError
from headscope.later import Tensor, torch
from headscope.lens import AttentionBlock, Lens
from headscope.lens.neurons import neurons_from
from headscope.lens.sinks import Parking, known_sinks, sinks_of
from headscope.lens.telling import Telling, ranked, telling_in
from headscope.lens.tokens.batch import Batch
from headscope.measures import MEASURES
from headscope.text import Document
from headscope.views.choosing import Only
from headscope.views.content import Array, Attention, Content, Neurons
from headscope.views.from_reading import (
    array_of,
    check_asked,
    held,
    keys_of,
    names_at,
    scores_of,
    sides_of,
    title_of,
)


def read_heads(
    view: str, lens: Lens, document: Document, only: Only, asked: Sequence[str] = (), *, truncate: bool = False
) -> Content:
    """Some heads of a text for a view that opens with the measures `asked`."""
    batch = lens.encoder.batch([document], truncate=truncate)
    here = [site for site in lens.sites if site.layer in only]
    sites = [site for site in here if batch.has_target or not lens.is_encoder_decoder or site.stack == "encoder"]
    numbers = sum(site.heads * batch.query_length(site) * len(batch.key_sequences(site)[0]) for site in sites)
    names, neurons = held(view, None, asked, numbers)
    content = content_of_heads(lens, batch, only, names, neurons=neurons)
    check_asked(content, asked, sites)
    return content


def content_of_heads(lens: Lens, batch: Batch, only: Only, measures: Sequence[str], *, neurons: bool = False) -> Content:
    """What `content_of` makes of a reading for the heads `only`: {3: [0, 1]}, without the reading."""
    layers: dict[int, _Layer] = {}

    def receive(block: AttentionBlock) -> None:
        if block.is_first:
            layers[block.site.index] = _Layer(block, sorted(set(only[block.site.layer])), measures, neurons)
        layers[block.site.index].add(block)

    lens.run(batch, receive, layers=list(only))
    attentions: list[Attention] = []
    parked: dict[str, list[Tensor]] = {}
    telling: dict[str, list[Telling]] = {}
    known = {layer.group: layer.known for layer in layers.values()}
    for layer in layers.values():
        parked.setdefault(layer.group, []).append(layer.parked())
        telling.setdefault(layer.group, []).extend(layer.telling())
        attentions.append(layer.attention())
    sinks = {group: sinks_of(known[group], found) for group, found in parked.items()}
    best = {group: ranked(found, sinks[group]) for group, found in telling.items()}
    sides = sides_of(batch)
    return Content(
        title_of(sides, batch.documents[0].text if batch.documents else None),
        sides,
        attentions,
        model=lens.name,
        sinks=sinks,
        telling=best,
    )


class _Layer:
    """Some heads of one attention, while its rows come."""

    def __init__(self, first: AttentionBlock, heads: list[int], measures: Sequence[str], neurons: bool) -> None:
        self.site, self.heads, self.neurons = first.site, heads, neurons
        self.group, self.causal = first.site.group, first.is_causal
        self.sides = first.attending.name, first.attended.name
        self.attending, self.attended = first.batch.query_sequences(first.site)[0], first.key_sequences[0]
        self.known = known_sinks(self.attended.special, self.causal)
        rows, keys = first.query_mask.shape[1], first.weights.shape[-1]
        shared = {name for name in measures if MEASURES[name].joint}
        self.scores: dict[str, Array] = {
            name: np.empty((1 if name in shared else len(heads), rows, keys), dtype=np.float32)
            for name in names_at(first.site, measures)
        }
        self.weights = self.scores.get("weight", np.empty((len(heads), rows, keys), dtype=np.float32))
        self.value_norms = array_of(first.scores("value_norm")[0, heads, 0]) if first.site.has_value_norms else None
        self.queries: list[Tensor] = []
        of_groups = first.key_side.keys
        self.keys = None if of_groups is None else keys_of(of_groups[0], heads, first.site.heads)
        self._parking = Parking(
            first.site.heads, torch.tensor(self.known, device=first.weights.device), first.site.kind == "self"
        )

    def add(self, block: AttentionBlock) -> None:
        here = slice(block.rows.start, block.rows.stop)
        self.weights[:, here] = array_of(block.weights[0, self.heads])
        for name, scores in self.scores.items():
            if name != "weight":
                scores[:, here] = scores_of(block, name, self.heads)
        if self.neurons and block.queries is not None:
            self.queries.append(block.queries[0, self.heads])
        # A model may pad a text to its own block size.
        own = block.weights[0, :, : max(0, len(self.attending) - here.start), : len(self.attended)]
        if own.shape[1]:
            self._parking.add(own, here.start)

    def parked(self) -> Tensor:
        return self._parking.most()

    def telling(self) -> list[Telling]:
        weights = torch.from_numpy(self.weights)[:, : len(self.attending), : len(self.attended)]
        tokens = self.attended.tokens if self.site.kind == "self" else None
        about = self.attending.special, self.attended.special, self.causal, tokens
        return telling_in(self.site.layer, weights, *about, self.parked(), self.heads)

    def attention(self) -> Attention:
        site = self.site
        vectors, parked = self._vectors() if self.neurons else None, sinks_of(self.known, [self.parked()])
        about = site.stack, site.kind, site.layer, self.heads, *self.sides
        return Attention(*about, self.scores, self.value_norms, vectors, parked)

    def _vectors(self) -> Neurons | None:
        """Queries and keys; None where the model does not show them."""
        queries = torch.cat(self.queries, 1) if self.queries else None
        try:
            found = neurons_from(self.site, torch.from_numpy(self.weights), queries, self.keys)
        except HeadscopeError:
            return None
        return Neurons(
            array_of(found.queries), array_of(found.keys), float(found.scaling), bool(found.exact), found.why or ""
        )
