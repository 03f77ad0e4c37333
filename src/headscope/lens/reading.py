"""Reading: one input, every attention, in memory."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

from headscope.errors import InputError, ModelError
from headscope.later import Later, Tensor, pd, torch
from headscope.lens.block import AttentionBlock
from headscope.lens.frames import links_frame, scores_frame
from headscope.lens.head import Head
from headscope.lens.in_notebook import reading_html
from headscope.lens.measure import MEASURES
from headscope.lens.neurons import Neurons, neurons_of
from headscope.lens.sinks import TextSinks, check_sinks, rows_left
from headscope.lens.site import Site
from headscope.lens.strongest import Candidates, Strongest, choices, strongest_of
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import TokenSequence
from headscope.lens.tokens.words import merge_keys, merge_rows

if TYPE_CHECKING:
    from headscope.lens.lens import Lens

Level = Literal["token", "word"]


class Reading:
    """What every head does on one input. Made by `lens.read`.

    `scores(measure)` gives (layers, heads, query, key); `to_words()` the same in words; `neurons(layer)` the queries and
    keys behind one layer's weights; `view()` shows it, `top()` and `to_frame()` are tables; `logits(token)` says which head
    and token speaks for a prediction, and `writes(head)` what a head writes.
    """

    def __init__(
        self,
        blocks: Sequence[AttentionBlock],
        batch: Batch,
        *,
        level: Level = "token",
        model: str = "",
        lens: Lens | None = None,
    ) -> None:
        self.blocks = {block.site: block for block in blocks}
        self.batch = batch
        self.level = level
        self.model = model  # what people call the model that has read it
        # Weakly: a lens gives its model back when nobody holds it any more.
        self._lens: Callable[[], Lens | None] = (lambda: None) if lens is None else weakref.ref(lens)

    @property
    def lens(self) -> Lens:
        """The lens that has read it, as long as it is open."""
        lens = self._lens()
        if lens is None or lens.closed:
            raise ModelError("The lens of this reading is closed, and its model has to run once more: ask while it is open.")
        return lens

    @property
    def sites(self) -> list[Site]:
        return list(self.blocks)

    @property
    def tokens(self) -> list[str]:
        """The tokens (or words) that the model read: of the source, for an encoder-decoder."""
        return self._labels(self.batch.sources[0])

    @property
    def target_tokens(self) -> list[str]:
        """The decoder's input tokens (or words), for an encoder-decoder with a target."""
        if not self.batch.targets:
            raise InputError("This reading has no target: give one with lens.read(source, target=...).")
        return self._labels(self.batch.targets[0])

    def scores(
        self, measure: str = "weight", *, kind: str = "self", stack: str | None = None, layer: int | None = None
    ) -> Tensor:
        """(layers, heads, query, key); "value_norm" (layers, heads, key); joint measures have one head.

        `kind` is "self" or "cross". `stack` chooses the encoder's or the decoder's self attention
        (default: the encoder's, where there is one). With `layer`, that layer only, without the first
        dimension.
        """
        blocks = self._choose(kind, stack, layer)
        each = [self._of_block(block, measure) for block in blocks]
        if layer is not None:
            return each[0]
        if len({scores.shape for scores in each}) > 1:
            raise InputError("The layers of this model differ in their number of heads: ask for one with layer=.")
        return torch.stack(each)

    def strongest(
        self,
        measure: str = "weight",
        *,
        kind: str = "self",
        stack: str | None = None,
        without_sinks: bool | None = None,
        renormalise: bool = False,
    ) -> list[Strongest]:
        """For every head, the token that gets the largest share of all that it gives, and its strongest single link.

        Queries that see one key only are not counted. `without_sinks` leaves sinks aside, with the queries that are
        special or see nothing else; by default a decoder's, as `is_without_sinks` says. `renormalise` makes each score a
        share of what its row gives beyond sinks.
        """
        check_sinks(without_sinks, renormalise)
        aside = renormalise or (self.is_without_sinks(kind, stack) if without_sinks is None else without_sinks)
        queries, keys = self.query_texts(kind, stack), self.key_texts(kind, stack)
        sinks, causal = self.sinks(kind, stack), self._choose(kind, stack, None)[0].is_causal
        pairs = choices(len(queries), len(keys), causal)
        if aside:
            pairs &= torch.tensor(rows_left(self._special(kind, stack), sinks, causal))[:, None]
        among = Candidates(pairs, torch.tensor(sinks), aside, renormalise)
        return [
            strongest_of(block.site.layer, None if MEASURES[measure].joint else head, scores, among, queries, keys)
            for block in self._choose(kind, stack, None)
            for head, scores in enumerate(self._of_block(block, measure))
        ]

    def top(
        self,
        n: int = 10,
        measure: str = "weight",
        *,
        kind: str = "self",
        stack: str | None = None,
        without_sinks: bool | None = None,
    ) -> pd.DataFrame:
        """The `n` heads with the strongest links, one row a head: who gives most to whom, and the share that goes to sinks.

        Sinks are left aside as in `strongest`.
        """
        if MEASURES[measure].per_key:
            raise InputError(f"{measure} is a number of each token, not of pairs: see reading.to_frame({measure!r}).")
        site = self._choose(kind, stack, None)[0].site
        strongest = self.strongest(measure, kind=kind, stack=stack, without_sinks=without_sinks)
        return links_frame(strongest, site.stack, site.kind, measure, n)

    def to_frame(
        self, *measures: str, kind: str = "self", stack: str | None = None, layer: int | None = None
    ) -> pd.DataFrame:
        """Every score in a row of its own: the head, the places and tokens of both ends, whether the key is a sink, and a
        column for each of `measures` ("weight" where none is named). Pairs that a query cannot see are left out.
        """
        return scores_frame(self, measures or ("weight",), self._choose(kind, stack, layer), kind, stack)

    def view(self, view: str = "head", **options: Any) -> Any:
        """The page of it, which shows itself in a notebook: "head", "model", "neuron" or "matrix"; `options` are those of
        `headscope.head_view`: layer=3, measure="norm", ...
        """
        return UPSTAIRS.view(view, self, **options)

    def is_without_sinks(self, kind: str = "self", stack: str | None = None) -> bool:
        """Whether sinks are left aside unless asked for: in a causal attention, where the first token gets most of nearly
        every head."""
        return self._choose(kind, stack, None)[0].is_causal

    def sinks(self, kind: str = "self", stack: str | None = None) -> list[bool]:
        """Which columns of `scores(kind=..., stack=...)` are sinks (lens/sinks.py): special tokens, the first of a causal
        attention, and what most heads of this text park on. A word is one if a piece of it is."""
        blocks = self._choose(kind, stack, None)
        (found,) = TextSinks(blocks).by_group().values()
        return [any(found[piece] for piece in pieces) for pieces in self._members(blocks[0].key_sequences[0])]

    def neurons(self, layer: int, *, kind: str = "self", stack: str | None = None) -> Neurons:
        """The queries and keys of one layer, and what the model makes of their products (vig2019, section 4.3).

        They stay in pieces, also at the level of words: pieces have a query and a key each, and words have none.
        """
        return neurons_of(self._choose(kind, stack, layer)[0])

    def query_tokens(self, kind: str = "self", stack: str | None = None) -> list[str]:
        """The labels of the rows of `scores(kind=..., stack=...)`."""
        site = self._choose(kind, stack, None)[0].site
        return self._labels(self.batch.query_sequences(site)[0])

    def key_tokens(self, kind: str = "self", stack: str | None = None) -> list[str]:
        """The labels of the columns of `scores(kind=..., stack=...)`."""
        site = self._choose(kind, stack, None)[0].site
        return self._labels(self.batch.key_sequences(site)[0])

    def query_texts(self, kind: str = "self", stack: str | None = None) -> list[str]:
        """`query_tokens` as people read them: `Mary`, where the tokenizer writes `ĠMary`."""
        return self.batch.query_sequences(self._choose(kind, stack, None)[0].site)[0].readable(self.level)

    def key_texts(self, kind: str = "self", stack: str | None = None) -> list[str]:
        """`key_tokens` as people read them."""
        return self.batch.key_sequences(self._choose(kind, stack, None)[0].site)[0].readable(self.level)

    def to_words(self) -> Self:
        """The same reading in words: sum over the pieces attended to, mean over the pieces attending.

        A special token is a word of its own. The value norm of a word is the mean over its pieces.
        """
        return self._with(list(self.blocks.values()), "word")

    def toward(self, direction: Tensor | Mapping[Site, Tensor]) -> Self:
        """The same reading with a direction of your own for the measure `projection`: (d_model,), (query, d_model), or one
        for each site, of which those that are left out keep the attention's own output.
        """
        by_site = direction if isinstance(direction, Mapping) else dict.fromkeys(self.blocks, direction)
        blocks = [_toward(block, by_site[block.site]) if block.site in by_site else block for block in self.blocks.values()]
        return self._with(blocks, self.level)

    def logits(self, token: str | int | None = None, *, against: str | int | None = None, at: int | None = None) -> Any:
        """The part of every head and source token in a token's logit, or in what it has more than the token `against`.

        `token` is its text (" Mary": mind the space) or its number; without one, the likeliest. `at` is a position among the
        tokens (of the target, for an encoder-decoder); without one, the last token of a text or target, or the masked one.
        """
        return UPSTAIRS.logits(self, token, against=against, at=at)

    def writes(self, head: str | Head, *, at: int | None = None, count: int = 10) -> pd.DataFrame:
        """The tokens that a head's output at a position makes most and least likely, along the direct path: `count` of each.

        `logit` is what the head adds to a token's logit beyond what it adds to all tokens alike, which changes nothing.
        """
        table: pd.DataFrame = UPSTAIRS.writes(self, head, at=at, count=count)
        return table

    def _repr_html_(self) -> str:
        return reading_html(self, UPSTAIRS.picture(self))

    def __repr__(self) -> str:
        return f"<Reading of {len(self.tokens)} {self.level}s, {len(self.blocks)} attentions>"

    def _with(self, blocks: Sequence[AttentionBlock], level: Level) -> Self:
        return type(self)(blocks, self.batch, level=level, model=self.model, lens=self._lens())

    def _labels(self, sequence: TokenSequence) -> list[str]:
        return sequence.groups()[0] if self.level == "word" else list(sequence.tokens)

    def _members(self, sequence: TokenSequence) -> list[list[int]]:
        """The pieces of each token or word."""
        return sequence.groups()[1] if self.level == "word" else [[place] for place in range(len(sequence))]

    def _special(self, kind: str, stack: str | None) -> list[bool]:
        """Which rows are special tokens, each of which is a word of its own."""
        sequence = self.batch.query_sequences(self._choose(kind, stack, None)[0].site)[0]
        return [sequence.special[pieces[0]] for pieces in self._members(sequence)]

    def _choose(self, kind: str, stack: str | None, layer: int | None) -> list[AttentionBlock]:
        here = [block for block in self.blocks.values() if block.site.kind == kind]
        stacks = {block.site.stack for block in here}
        chosen = stack or ("encoder" if "encoder" in stacks and kind == "self" else "decoder")
        found = [block for block in here if block.site.stack == chosen and layer in (None, block.site.layer)]
        if not found:
            listed = ", ".join(sorted({f"{site.stack} {site.kind}" for site in self.sites}))
            hint = "" if self.batch.targets or kind == "self" else "; cross attention needs a target (target=...)"
            at = "" if layer is None else f" in layer {layer}"
            raise InputError(f"This reading has no {chosen} {kind} attention{at}: it has {listed}{hint}.")
        return found

    def _of_block(self, block: AttentionBlock, measure: str) -> Tensor:
        scores = block.scores(measure)[0]  # head row key
        per_key = MEASURES[measure].per_key
        if self.level == "word":
            scores = self._merged(scores, block.site, per_key)
        return (scores[:, 0] if per_key else scores).detach().cpu()

    def _merged(self, scores: Tensor, site: Site, per_key: bool) -> Tensor:
        rows, keys = (side(site)[0].groups()[1] for side in (self.batch.query_sequences, self.batch.key_sequences))
        merged = merge_keys(merge_rows(scores, rows), keys)
        return merged / torch.tensor([len(pieces) for pieces in keys]).to(merged) if per_key else merged


def _toward(block: AttentionBlock, direction: Tensor) -> AttentionBlock:
    rows, size = block.weights.shape[0::2][:2], block.key_side.projection.matrices.shape[-1]
    if direction.shape[-1] != size:
        raise InputError(f"{block.site.name}: a direction has {size} numbers here, not {direction.shape[-1]}.")
    return replace(block, direction=direction.detach().to(block.weights).expand(*rows, size))


class Upstairs:
    """What rooms above this one make of a reading: known by name alone, and fetched when someone asks."""

    view: Callable[..., Any] = Later("headscope.views.show", "view_of")  # headscope.head_view, with the view's name before
    logits: Callable[..., Any] = Later("headscope.writing.logits", "logits_of")
    writes: Callable[..., Any] = Later("headscope.writing.writes", "writes_of")
    picture: Callable[[Reading], str] = Later("headscope.views.picture", "picture_of")  # HTML, or nothing


UPSTAIRS = Upstairs()
