"""What is done with every shard, as data that another process can be handed: means of heads, estimates, exact effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

from headscope.ablation.estimates import estimates
from headscope.ablation.exact import Ablation, Removal, chunks, few, width_of
from headscope.ablation.predicted import has_words, predicts, task
from headscope.ablation.removals import removable
from headscope.errors import InputError
from headscope.later import torch
from headscope.lens import watching
from headscope.lens.head_means import HeadMeans, MeanSums
from headscope.lens.lens import Lens
from headscope.lens.site import Site
from headscope.lens.source import ModelSource
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import Encoded
from headscope.lens.without import At, Replacement, mean_of, of_other_texts, read_heads, zeros
from headscope.statistics.base import Array
from headscope.study.count import BatchSettings, batches_of, encode_all
from headscope.study.groups import grouped
from headscope.study.manifest import MadeWith
from headscope.study.shards import EncodedGroup, Shard
from headscope.study.state import State
from headscope.study.work import ShardCounts

CLEAN = "clean"  # in a state, beside the ways: what the model does with all its heads
PLACES: dict[str, At] = {"all": None, "first": 0, "rest": slice(1, None)}


@dataclass(frozen=True)
class _Job:
    """A model's recipe, how texts are fed, and how many documents stand together when intervals draw them again."""

    source: ModelSource
    made_with: MadeWith
    batches: BatchSettings
    group_size: int
    side_by_side = 1  # estimates ask for gradients

    def prepare(self, lens: Lens, shard: Shard) -> Shard:
        """The shard with its documents as tokens."""
        return replace(shard, encoded=self._encoded(lens, shard))

    def _encoded(self, lens: Lens, shard: Shard) -> list[EncodedGroup]:
        groups = grouped(shard.documents, shard.start, self.group_size)
        return [EncodedGroup(group, *encode_all(lens.encoder, some, self.batches, {})) for group, some in groups.items()]

    def _batches(self, lens: Lens, shard: Shard) -> tuple[list[tuple[Batch, list[int]]], Counter[str], list[Encoded]]:
        """Batches with the groups that their texts are of, what was counted, and every text in its own order.

        Sums are kept text by text, so a batch may be of several groups.
        """
        by_group = self._encoded(lens, shard) if shard.encoded is None else shard.encoded
        encoded = [item for group in by_group for item in group.encoded]
        group_of = {id(item.source): group.group for group in by_group for item in group.encoded}
        lengths = [max(len(item.source), len(item.target or ())) for item in encoded]
        together = self._together(lens, lengths)
        batches = [
            (batch, [group_of[id(source)] for source in batch.sources])
            for batch in batches_of(lens.encoder, encoded, together)
        ]
        tokens, skipped = sum(len(item.source) for item in encoded), sum(group.skipped for group in by_group)
        return batches, Counter(documents=len(encoded), tokens=tokens, skipped=skipped), encoded

    def _together(self, lens: Lens, lengths: Sequence[int]) -> int:
        """How many texts make a batch."""
        return chunks(lengths, width_of(lens), self.batches.batch_size)


@dataclass(frozen=True)
class MeansWork(_Job):
    """What each head brings on average."""

    def count(self, lens: Lens, shard: Shard) -> ShardCounts:
        batches, counts, _ = self._batches(lens, shard)
        sums = MeanSums(lens)
        with torch.no_grad(), lens.unwatched(), sums.watch():
            for batch, _ in batches:
                lens.forward(batch.inputs)
        state: State = {"sums": sums.sums, "tokens": {name: np.array(count) for name, count in sums.tokens.items()}}
        return ShardCounts(shard.index, len(shard.documents), state, [], dict(counts))


@dataclass(frozen=True)
class AblationWork(_Job):
    """Effects of removals (exact), or estimates for every head, by several ways."""

    ways: Sequence[str] = ("mean",)
    at: str = "all"
    removals: Sequence[Removal] | None = None  # None: estimates
    draws: int = 8  # of labels, for the estimate of KL
    means: HeadMeans | None = None

    def count(self, lens: Lens, shard: Shard) -> ShardCounts:
        batches, counts, encoded = self._batches(lens, shard)
        layers = watching.Layers(lens.model, lens.trace.sites)
        groups: dict[int, dict[str, dict[str, Array]]] = {}
        largest: dict[str, Array] = {}
        for number, (batch, of_groups) in enumerate(batches):
            found = self._of_batch(lens, batch, layers, self._others(lens, batch, encoded), check=number == 0)
            for text, of_group in enumerate(of_groups):
                group = groups.setdefault(of_group, {})
                for way, sums in found.items():
                    into = group.setdefault(way, {})
                    for name, values in sums.items():
                        into[name] = into.get(name, 0) + values[text]
                    for name in {"kl", "states"} & set(sums):
                        largest[way] = np.maximum(largest.get(way, 0), sums[name][text])
        state: State = {way: _stacked([group[way] for group in groups.values()]) for way in next(iter(groups.values()), {})}
        if largest:
            state["largest"] = largest
        return ShardCounts(shard.index, len(shard.documents), state, list(groups), dict(counts))

    def _together(self, lens: Lens, lengths: Sequence[int]) -> int:
        fit = super()._together(lens, lengths)
        return fit if self.removals is None else min(fit, few(lengths, self.removals))

    def _of_batch(
        self,
        lens: Lens,
        batch: Batch,
        layers: watching.Layers,
        others: Batch | None,
        check: bool,
    ) -> dict[str, dict[str, Array]]:
        sites = removable(lens)
        replacements = {way: self._replacements(lens, sites, way, others) for way in self.ways}
        at = PLACES[self.at]
        if self.removals is None:
            seeds = [crc32(str(source.ids).encode()) for source in batch.sources]
            found = estimates(lens, batch, replacements, sites, at=at, draws=self.draws, seeds=seeds)
            predicted = predicts(task(lens, batch).targets).sum(1).double().cpu().numpy()
            return {CLEAN: {"tokens": predicted}} | found
        with torch.no_grad():
            ablation = Ablation(lens, batch, layers, check)
            sums = {way: ablation.sums(self.removals, replacements[way], at) for way in self.ways}
        return {CLEAN: next(iter(sums.values())).clean} | {way: some.effects for way, some in sums.items()}

    def _replacements(self, lens: Lens, sites: Sequence[Site], way: str, others: Batch | None) -> Mapping[Site, Replacement]:
        if way == "zero":
            return dict.fromkeys(sites, zeros)
        if way == "mean":
            assert self.means is not None
            return {site: mean_of(self.means, site) for site in sites}
        assert others is not None
        return {site: of_other_texts(*read) for site, read in read_heads(lens, sites, others.inputs).items()}

    def _others(self, lens: Lens, batch: Batch, encoded: Sequence[Encoded]) -> Batch | None:
        """For each text of a batch the next one of its shard, which the first one follows."""
        if "resample" not in self.ways:
            return None
        if len(encoded) < 2:
            raise InputError("resample puts another text's heads in the place of a text's: give at least two texts a shard.")
        after = {id(one.source): other for one, other in zip(encoded, [*encoded[1:], encoded[0]], strict=True)}
        return lens.encoder.collate([after[id(source)] for source in batch.sources])


def _stacked(states: Sequence[dict[str, Array]]) -> dict[str, Array]:
    return {name: np.stack([np.asarray(state[name]) for state in states]) for name in states[0]}


def can_estimate(lens: Lens) -> bool:
    """1 - cos has no slope where nothing is changed: states have no first-order estimate."""
    return has_words(lens)
