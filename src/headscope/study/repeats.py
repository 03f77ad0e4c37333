"""Heads on random tokens that come twice: who looks at the token before, at the same one, at the one that came after it.

On a random sequence that is repeated, nothing but the repetition can be followed. In its second half an induction head
looks at the token behind the earlier copy of its own (Elhage et al. 2021; Olsson et al. 2022), a duplicate-token head at
that copy itself. The same places in a sequence without a repetition say how much of this is position alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from headscope.errors import InputError
from headscope.later import Tensor, pd, torch
from headscope.lens.block import AttentionBlock
from headscope.lens.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.statistics.base import Array, Heads, ratio
from headscope.statistics.columns import SHARE, Column, declare
from headscope.study.manifest import describe_model, is_same_model
from headscope.study.run import Run
from headscope.text import Document

NAME = "repeats"  # of the table in a run directory
BATCH = 8  # sequences at a time
PLACES = ("previous", "duplicate", "induction")
BY_NORM = ", by norm"


def _second_half(what: str, place: str, more: str, by: str = "") -> Column:
    title = f"{what}, share of all attention on repeated tokens{by}"
    says = f"On random tokens that come twice, the part of all attention of the second half that goes to {place}."
    return Column(title, unit=SHARE, says=says, more=more)


def _to_compare(
    title: str, says: str = "The same place where the second half is new.", more: str = "goes by place"
) -> Column:
    return Column(title, unit=SHARE, says=says, more=more, of_heads=False)


COLUMNS = {
    "previous": _second_half("Previous token", "the token before", "looks there more"),
    "duplicate": _second_half("Duplicate token", "the earlier copy of the same token", "finds copies"),
    "induction": _second_half("Induction", "the token that followed the earlier copy", "predicts by copying"),
    "previous_norm": _second_half("Previous token", "the token before", "takes more there", BY_NORM),
    "duplicate_norm": _second_half("Duplicate token", "the earlier copy", "takes more there", BY_NORM),
    "induction_norm": _second_half("Induction", "what followed the copy", "takes more there", BY_NORM),
    "sinks": _second_half("Sinks", "special tokens or the first", "uses sinks more"),
    "chance": _to_compare("Chance of one place", "What one place gets from looking at all alike.", "is shorter"),
    "duplicate_unrepeated": _to_compare("Duplicate token's place without a copy, share of all attention"),
    "induction_unrepeated": _to_compare("Induction's place without a copy, share of all attention"),
}
declare(NAME, COLUMNS, card_place=180)


def offsets(length: int) -> dict[str, int]:
    """Where each kind of head looks from a token of the second half.

    >>> offsets(50)
    {'previous': -1, 'duplicate': -50, 'induction': -49}
    """
    return dict(zip(PLACES, (-1, -length, 1 - length), strict=True))


def given_to(scores: Tensor, rows: range, halves: range, offset: int) -> Tensor:
    """(batch, head, row, key) -> (head,): what the rows in `halves` give to the key `offset` places from their own."""
    start, stop = max(rows.start, halves.start), min(rows.stop, halves.stop)
    if start >= stop:
        return scores.new_zeros(scores.shape[1])
    own = scores[:, :, start - rows.start : stop - rows.start]
    return own.diagonal(start + offset, dim1=2, dim2=3)[..., : stop - start].sum((0, 2))


def repeats(lens: Lens, *, sequences: int = 16, length: int = 50, seed: int = 0) -> pd.DataFrame:
    """One row a head of self attention: what it gives, in the second half, to `previous`, `duplicate` and `induction`.

    By weight a mean over the rows; `_norm` is the share in the norm of all that the rows bring. `sinks` goes to the
    tokens that stand around the random ones, or to a decoder's first. `chance` is what looking at all tokens in sight
    alike would give to one place; `duplicate_unrepeated` and `induction_unrepeated` are what the head gives to the same
    places when the second half is of other tokens.
    """
    frame = Frame.of(lens)
    frame.check(lens, sequences, length)
    random = np.random.default_rng(seed)
    drawn = np.stack([random.choice(frame.ordinary, 2 * length, replace=False) for _ in range(sequences)])
    twice = np.concatenate([drawn[:, :length], drawn[:, :length]], axis=1)
    repeated, unrepeated = (_Counts(lens, frame, halves, length) for halves in (twice, drawn))
    others = unrepeated.columns()
    same_places = {f"{place}_unrepeated": others[place] for place in PLACES[1:]}
    return repeated.heads.labels().assign(**repeated.columns(), **same_places)


def add_repeats(lens: Lens, run: Run | str | Path, *, sequences: int = 16, length: int = 50, seed: int = 0) -> pd.DataFrame:
    """Count `repeats` for the model of a run, and keep it among the run's tables as `repeats`."""
    run = Run.open(run)
    theirs, ours = run.manifest["model"], describe_model(lens)
    if not is_same_model(theirs, ours):
        raise InputError(f"{run.folder} is a run of {theirs['name']}, and {ours['name']} is another model: open that one.")
    table = repeats(lens, sequences=sequences, length=length, seed=seed)
    run.add(NAME, table)
    return table


@dataclass(frozen=True)
class Frame:
    """What stands around random tokens when this model reads them, and which tokens are ordinary ones."""

    before: list[int]
    after: list[int]
    target_before: list[int]  # of an encoder-decoder's target
    ordinary: NDArray[np.int64]

    @classmethod
    def of(cls, lens: Lens) -> Self:
        """The tokenizer's own special tokens; a decoder that has a begin token gets it, whatever its tokenizer does."""
        model: Any = lens.model
        known = vocabulary = int(model.get_input_embeddings().num_embeddings)
        begin = getattr(model.config, "bos_token_id", None)
        before, after, special = [], [], {begin}
        if lens.tokenizer is not None:
            source = lens.encoder.encode(Document("a")).source
            ordinary = [place for place, is_special in enumerate(source.special) if not is_special]
            before, after = source.ids[: ordinary[0]], source.ids[ordinary[-1] + 1 :]
            special |= {*lens.tokenizer.all_special_ids, *lens.tokenizer.get_added_vocab().values()}
            vocabulary = min(vocabulary, len(lens.tokenizer))
            begin = lens.tokenizer.bos_token_id if lens.tokenizer.bos_token_id is not None else begin
        if lens.sites[0].stack == "decoder":
            after = []  # what ends a text is behind all that is asked
            before = before or ([begin] if isinstance(begin, int) and begin < known else [])
        start = getattr(model.config, "decoder_start_token_id", None)
        target_before = [start if isinstance(start, int) else 0] if lens.is_encoder_decoder else []
        special |= set(target_before)
        return cls(before, after, target_before, np.array([token for token in range(vocabulary) if token not in special]))

    def check(self, lens: Lens, sequences: int, length: int) -> None:
        """An error where such sequences cannot be made, or not be read."""
        if sequences < 1 or length < 2:
            raise InputError("Repeats need at least one sequence, of at least two tokens.")
        if 2 * length > len(self.ordinary):
            raise InputError(
                f"{lens.name} has {len(self.ordinary)} ordinary tokens, too few for {2 * length} different ones."
            )
        whole = len(self.before) + 2 * length + len(self.after)
        if lens.max_tokens is not None and whole > lens.max_tokens:
            raise InputError(
                f"Repeats of {length} tokens are {whole} long, and {lens.name} reads {lens.max_tokens}: ask for fewer."
            )

    def batch(self, lens: Lens, tokens: NDArray[np.int64]) -> Batch:
        """(sequence, token) as a batch: bare ids, since there are no words to be told."""

        def ids(before: list[int], after: list[int]) -> Tensor:
            return torch.tensor([[*before, *some, *after] for some in tokens.tolist()], device=lens.device)

        source = ids(self.before, self.after)
        inputs = {"input_ids": source, "attention_mask": torch.ones_like(source)}
        if lens.is_encoder_decoder:
            inputs["decoder_input_ids"] = ids(self.target_before, [])
            inputs["decoder_attention_mask"] = torch.ones_like(inputs["decoder_input_ids"])
        return Batch(inputs)


class _Counts:
    """Sums over the rows of the second halves, for each head of self attention."""

    def __init__(self, lens: Lens, frame: Frame, tokens: NDArray[np.int64], length: int) -> None:
        self.heads = Heads([site for site in lens.sites if site.kind == "self"])
        self.frame, self.length = frame, length
        names = ("rows", "chance", "sinks", *PLACES, "norm", *(f"{place}_norm" for place in PLACES))
        self.sums = {name: np.zeros(self.heads.count) for name in names}
        for start in range(0, len(tokens), BATCH):
            lens.run(frame.batch(lens, tokens[start : start + BATCH]), self.receive)

    def receive(self, block: AttentionBlock) -> None:
        site = block.site
        if site.kind != "self":
            return
        target = site.stack == "decoder" and block.batch.has_target
        first = len(self.frame.target_before if target else self.frame.before) + self.length
        halves = range(first, first + self.length)
        asked = [row for row in block.rows if row in halves]
        texts, keys = block.weights.shape[0], block.weights.shape[-1]
        self._add("rows", block, texts * len(asked))
        in_sight = [row + 1 if site.stack == "decoder" else keys for row in asked]
        self._add("chance", block, texts * sum(1 / seen for seen in in_sight))
        self._add("sinks", block, self._to_sinks(block, asked, halves))
        measures = {"": "weight"} | ({"_norm": "norm"} if site.has_norms else {})
        for suffix, measure in measures.items():
            scores = block.scores(measure)
            for place, offset in offsets(self.length).items():
                self._add(f"{place}{suffix}", block, given_to(scores, block.rows, halves, offset))
        if site.has_norms and asked:
            inside = block.scores("norm")[:, :, asked[0] - block.rows.start : asked[-1] + 1 - block.rows.start]
            self._add("norm", block, inside.sum((0, 2, 3)))

    def _to_sinks(self, block: AttentionBlock, asked: list[int], halves: range) -> Tensor:
        """(head,): what the rows give to the tokens around the random ones, and in a decoder to the first of all."""
        first = halves.start - self.length
        around = torch.ones(block.weights.shape[-1], dtype=torch.bool, device=block.weights.device)
        around[max(first, int(block.site.stack == "decoder")) : halves.stop] = False
        own = block.weights[:, :, [row - block.rows.start for row in asked]]
        return own[..., around].sum((0, 2, 3))

    def _add(self, name: str, block: AttentionBlock, amounts: Tensor | float) -> None:
        here = self.heads.where(block.site)
        self.sums[name][here] += amounts.double().cpu().numpy() if isinstance(amounts, Tensor) else amounts

    def columns(self) -> dict[str, Array]:
        sums = self.sums
        columns = {place: ratio(sums[place], sums["rows"]) for place in PLACES}
        columns |= {f"{place}_norm": ratio(sums[f"{place}_norm"], sums["norm"]) for place in PLACES}
        return columns | {name: ratio(sums[name], sums["rows"]) for name in ("sinks", "chance")}
