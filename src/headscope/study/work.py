"""Work: what a study does with every shard, as data that another process can be handed; and what a shard comes to."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headscope.lens.lens import Lens
from headscope.lens.source import ModelSource
from headscope.statistics.base import Statistic, settle_all
from headscope.study.count import BatchSettings, count, encode_all
from headscope.study.groups import grouped, stacked
from headscope.study.manifest import MadeWith
from headscope.study.shards import EncodedGroup, Shard
from headscope.study.state import State
from headscope.text import Annotator, Corpus, Document
from headscope.text.corpus import OnError


@dataclass(frozen=True)
class ShardCounts:
    """What a shard has come to: the sums of its statistics, and what they were counted over."""

    index: int
    documents: int  # of the shard, those that were skipped too
    state: State  # of what is resampled one row a group
    groups: list[int]  # that the rows are of: those with a document that was counted
    counts: dict[str, int]


@dataclass(frozen=True)
class Work:
    """A model's recipe, statistics that are not started, how texts are fed; what annotates them, where a corpus is."""

    source: ModelSource
    statistics: Sequence[Statistic]
    batches: BatchSettings
    group_size: int  # documents
    shards: int  # of the whole corpus
    made_with: MadeWith
    annotator: Annotator | None = None
    on_error: OnError = "stop"  # the corpus's own, for what cannot be annotated

    @property
    def side_by_side(self) -> int:
        # A copy of a process that has had gradients can have none.
        return 1 if any(one.gradients for one in self.statistics) else self.shards

    def count(self, lens: Lens, shard: Shard) -> ShardCounts:
        """Depends on nothing but the work and the shard; `lens` is its source, opened."""
        whole = {one.table_name: one.start(lens.sites) for one in self.statistics if not one.resampled}
        by_group: dict[int, list[Statistic]] = {}
        counts: Counter[str] = Counter()
        for group, encoded, skipped in self._encoded(lens, shard) if shard.encoded is None else shard.encoded:
            started = [whole.get(one.table_name) or one.start(lens.sites) for one in self.statistics]
            counts.update({**count(lens, encoded, started, self.batches), "skipped": skipped})
            if encoded:
                by_group[group] = started
        settle_all([*whole.values(), *(one for started in by_group.values() for one in started)])
        state = {name: one.state for name, one in whole.items()}
        for place, one in enumerate(self.statistics):
            if one.resampled:
                state[one.table_name] = stacked([started[place].state for started in by_group.values()])
        return ShardCounts(shard.index, len(shard.documents), state, list(by_group), dict(counts))

    def prepare(self, lens: Lens, shard: Shard) -> Shard:
        """The shard with its documents as tokens."""
        return replace(shard, encoded=list(self._encoded(lens, shard)))

    def _encoded(self, lens: Lens, shard: Shard) -> Iterator[EncodedGroup]:
        groups = grouped(shard.documents, shard.start, self.group_size)
        if not any(one.resampled for one in self.statistics):  # none is drawn again by groups: a batch may be of several
            groups = {group: [one for some in groups.values() for one in some] for group in [*groups][:1]}
        needed = {layer: statistic.name for statistic in self.statistics for layer in statistic.needs}
        for group, documents in groups.items():
            yield EncodedGroup(group, *encode_all(lens.encoder, self._annotated(documents), self.batches, needed))

    def _annotated(self, documents: Sequence[Document]) -> Sequence[Document]:
        """A shard's bounds do not depend on the annotator: it reads what is in the shard."""
        if self.annotator is None:
            return documents
        return list(Corpus.from_documents(documents, on_error=self.on_error).annotated(self.annotator))
