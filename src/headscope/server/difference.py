"""Two texts, or two models, read for one picture: B less A, packed attention by attention as a single text is.

The weights of both wait until their sinks are known, since heads are ranked by how much they changed: as half floats.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headscope.errors import InputError
from headscope.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.server.queue import Check
from headscope.server.reading import OfText, encode, joined, run, sites_of
from headscope.server.schemas import ReadRequest
from headscope.views.content import Attention, Content
from headscope.views.difference import joint_content, kept_heads, level_of, notes_of, only_shared
from headscope.views.pack import Packed, pack, packed_difference
from headscope.views.ranking import change_of, change_statistic, ranked_by
from headscope.views.shared_heads import Heads, shared_heads

LARGEST = 100_000_000  # weights of each that may wait, of two bytes each
Place = tuple[str, int]  # `encoder self`, and the layer


class _Reader:
    """One of the two: what is packed of it, and what is known of all of it."""

    def __init__(self, lens: Lens, asked: ReadRequest, max_tokens: int) -> None:
        self.lens, self.asked = lens, asked.model_copy(update={"neurons": False})
        self.batch: Batch = encode(lens, asked, max_tokens)
        self.contents: list[Content] = []  # of each attention, without its numbers
        self.packed: dict[Place, Packed] = {}
        self.weights: dict[Place, NDArray[np.float16]] = {}
        self.text = OfText({}, {})

    @property
    def heads(self) -> Heads:
        sites = sites_of(self.lens, self.asked, self.batch)
        return {(site.group, site.layer): list(range(site.heads)) for site in sites}

    def read(self, shared: Heads, first: int, exact: bool, check: Check) -> None:
        """Run the model, and pack the heads that both have into chunks from `first` on."""

        def take(content: Content) -> None:
            (attention,) = content.attentions
            self.contents.append(replace(content, attentions=[_bare(attention)]))
            place = attention.group, attention.layer
            if place not in shared:
                return
            kept = kept_heads(attention, shared[place])
            number = first + list(shared).index(place)
            self.packed[place] = pack(replace(content, attentions=[kept]), exact=exact, level=1, first=number)
            self.weights[place] = kept.scores[ranked_by(kept)].astype(np.float16)
            if sum(array.size for array in self.weights.values()) > LARGEST:
                raise InputError("A text is too long to be compared with another: shorten it, or ask for fewer layers.")

        self.text = run(self.lens, self.asked, self.batch, check, take)

    def whole(self) -> Content:
        """Everything but numbers."""
        attentions = [attention for content in self.contents for attention in content.attentions]
        return replace(self.contents[0], attentions=attentions, sinks=self.text.sinks)

    def weighed(self, attention: Attention) -> Attention:
        """An attention with its weights alone."""
        weights = self.weights[attention.group, attention.layer].astype(np.float32)
        return replace(attention, scores={ranked_by(attention): weights})


def read_difference(
    lenses: tuple[Lens, Lens], asked: tuple[ReadRequest, ReadRequest], max_tokens: int, check: Check
) -> Packed:
    """What views.pack.pack gives of the difference of both readings."""
    a, b = (_Reader(lens, one, max_tokens) for lens, one in zip(lenses, asked, strict=True))
    shared = shared_heads(a.heads, b.heads)
    for reader, first in ((a, 0), (b, len(shared))):
        reader.read(shared, first, a.asked.exact, check)
    one, other = a.whole(), b.whole()
    both = only_shared(one, shared), only_shared(other, shared)
    joint = joint_content(*both, notes_of(one, other))
    changes = [
        change_of(a.weighed(first), b.weighed(second), joint, level_of(one, other))
        for first, second in zip(*(content.attentions for content in both), strict=True)
    ]
    statistics = change_statistic({name: value for found in changes for name, value in found.items()})
    packed = [joined([reader.packed[place] for place in shared], reader.text) for reader in (a, b)]
    return packed_difference(replace(joint, statistics=statistics), *packed)


def _bare(attention: Attention) -> Attention:
    """Whose scores these are, without the scores."""
    scores = {name: np.zeros((len(array), 0, 0), np.float32) for name, array in attention.scores.items()}
    return replace(attention, scores=scores, value_norm=None, neurons=None)
