"""Work: what a study does with every shard, as data that another process can be handed; and what a shard comes to."""

from collections.abc import Sequence
from dataclasses import dataclass

from headscope.lens.lens import Lens
from headscope.lens.source import ModelSource
from headscope.statistics.base import Statistic
from headscope.study.count import BatchSettings, count
from headscope.study.shards import Shard
from headscope.study.state import State
from headscope.text import Annotator, Corpus, Document
from headscope.text.corpus import OnError


@dataclass(frozen=True)
class ShardCounts:
    """What a shard has come to: the sums of its statistics, and what they were counted over."""

    index: int
    documents: int  # of the shard, those that were skipped too
    state: State
    counts: dict[str, int]


@dataclass(frozen=True)
class Work:
    """A model's recipe, statistics that are not started, how texts are fed; what annotates them, where a corpus is."""

    source: ModelSource
    statistics: Sequence[Statistic]
    batches: BatchSettings
    annotator: Annotator | None = None
    on_error: OnError = "stop"  # the corpus's own, for what cannot be annotated

    def count(self, lens: Lens, shard: Shard) -> ShardCounts:
        """Depends on nothing but the work and the shard; `lens` is its source, opened."""
        started, counts = count(lens, self._annotated(shard.documents), self.statistics, self.batches)
        state = {statistic.table_name: statistic.state for statistic in started}
        return ShardCounts(shard.index, len(shard.documents), state, counts)

    def _annotated(self, documents: Sequence[Document]) -> Sequence[Document]:
        """A shard's bounds do not depend on the annotator: it reads what is in the shard."""
        if self.annotator is None:
            return documents
        return list(Corpus.from_documents(documents, on_error=self.on_error).annotated(self.annotator))
