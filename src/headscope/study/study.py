"""Study: a lens, a corpus, a list of statistics -> a run directory that a kill cannot hurt.

The corpus is cut into fixed shards. Each shard's state depends on its own documents alone and is written
whole or not at all; the tables are the shards merged in order. So a run that was killed ten times and
resumed has the same bytes as one that was not.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from headscope.errors import InputError
from headscope.lens.lens import Lens
from headscope.progress import Counting
from headscope.statistics import STATISTICS, usual_statistics
from headscope.statistics.base import Statistic
from headscope.study.count import BatchSettings, count
from headscope.study.engine import Engine, LocalEngine
from headscope.study.intervals import intervals
from headscope.study.manifest import check_same, describe_model, load_manifest, save_manifest, versions
from headscope.study.shards import SHARD, Shard, shard_file, shards_of
from headscope.study.state import load_state, save_state, state_of
from headscope.study.tables import load_table, save_table, table_names
from headscope.text import Corpus, Document


@dataclass
class Run:
    """A finished run: its folder, its tables and what was counted."""

    folder: Path
    manifest: dict[str, Any] = field(repr=False)

    def table(self, name: str) -> pd.DataFrame:
        """A table by name, as a DataFrame."""
        return load_table(self.folder, name)

    @property
    def tables(self) -> list[str]:
        return table_names(self.folder)

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self.table(name)


def study(
    lens: Lens,
    documents: Corpus | Iterable[Any],
    statistics: Sequence[str | Statistic] | None = None,
    *,
    out: str | Path | None = None,
    batch_size: int = 16,
    limit: int | None = None,
    truncate: bool = False,
    on_error: str = "stop",
    by_word: bool = False,
    prompt: str | None = None,
    shard_size: int = SHARD,
    engine: Engine | None = None,
    progress: Counting | None = None,
) -> Run:
    """Count `statistics` (all of them by default) over a corpus; run it again to go on after an interruption.

    `by_word` tokenises the words of documents that have them one by one, for alignments between them; `prompt`, a template
    with {source} and {target}, puts a document's words and target words into one text for a decoder.
    """
    corpus = documents if isinstance(documents, Corpus) else Corpus.of(documents, on_error=on_error)
    chosen = as_statistics(statistics)
    feed = BatchSettings(batch_size, limit, truncate, on_error, by_word, prompt)
    run = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="headscope-"))
    manifest = _begin(run, lens, corpus, chosen, feed, shard_size)
    total = -(-manifest["corpus"]["documents"] // shard_size)
    finished = {index for index in range(total) if load_state(shard_file(run, index)) is not None}

    def work(shard: Shard) -> None:
        counted = count(lens, _annotated(corpus, shard), chosen, feed)
        save_state(shard.file(run), state_of(counted.statistics), counted.counts)

    if progress is not None:
        done = min(len(finished) * shard_size, manifest["corpus"]["documents"])
        progress.begin(manifest["corpus"]["documents"], done)
    waiting = shards_of(corpus.bare(), shard_size, set(range(total)) - finished)
    for shard in (engine or LocalEngine()).run(waiting, work):
        if progress is not None:
            progress.advance(len(shard.documents))
    return _finish(run, lens, chosen, total, manifest)


def _annotated(corpus: Corpus, shard: Shard) -> Sequence[Document]:
    """A shard's documents, annotated where the corpus is: its bounds do not depend on the annotator."""
    if corpus.annotator is None:
        return shard.documents
    return list(Corpus.from_documents(shard.documents, on_error=corpus.on_error).annotated(corpus.annotator))


def as_statistics(chosen: Sequence[str | Statistic] | None) -> list[Statistic]:
    """Statistics from names and settings; all the usual ones for None."""
    given = usual_statistics() if chosen is None else list(chosen)
    made = [STATISTICS[item]() if isinstance(item, str) else item for item in given]
    names = [statistic.table_name for statistic in made]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"The statistic {twice[0]} is asked for twice.")
    if not made:
        raise InputError("No statistic is asked for: name at least one.")
    return made


def _begin(
    run: Path, lens: Lens, corpus: Corpus, statistics: Sequence[Statistic], feed: BatchSettings, shard_size: int
) -> dict[str, Any]:
    """Write the manifest, or check it against the one that is there."""
    bare = corpus.bare()
    documents = sum(1 for _ in bare)
    if documents == 0:
        raise InputError("The corpus has no documents: there is nothing to count.")
    now: dict[str, Any] = {
        "kind": "study",
        "model": describe_model(lens),
        "corpus": {
            **corpus.describe(),
            "fingerprint": corpus.fingerprint(),
            "documents": documents,
            "skipped": bare.skipped.describe(),
        },
        "settings": {
            **asdict(feed),
            "shard_size": shard_size,
            "statistics": {statistic.table_name: statistic.settings() for statistic in statistics},
        },
        "versions": versions(),
    }
    if (run / "manifest.json").is_file():
        check_same(run, load_manifest(run), now)
    elif run.is_dir() and any(run.iterdir()):
        raise InputError(f"{run} is not empty and is not a run: choose another folder with -o.")
    else:
        save_manifest(run, {**now, "finished": False})
    return now


def load_statistic(run: Run, lens: Lens, statistic: Statistic) -> Statistic:
    """A statistic of a finished run with its merged sums: for what takes a second pass over the corpus."""
    merged = statistic.start(lens.sites)
    for index in range(run.manifest["shards"]):
        loaded = load_state(shard_file(run.folder, index))
        if loaded is None or merged.table_name not in loaded[0]:
            raise InputError(f"{run.folder}: shard {index} has no {merged.table_name}, or is damaged; run it again.")
        part = merged.start(lens.sites)
        part.state = loaded[0][merged.table_name]
        merged.merge(part)
    return merged


def _finish(run: Path, lens: Lens, statistics: Sequence[Statistic], total: int, manifest: dict[str, Any]) -> Run:
    """Merge the shards in order, and write the tables."""
    merged = [statistic.start(lens.sites) for statistic in statistics]
    resampled = [statistic for statistic in statistics if statistic.resampled]
    groups: list[dict[str, Statistic]] = []  # consecutive shards for resampling: a bounded number, whatever the corpus
    counts: Counter[str] = Counter()
    for index in range(total):
        loaded = load_state(shard_file(run, index))
        if loaded is None:
            raise InputError(f"{run}: shard {index} is missing or damaged; run the same command again.")
        state, shard_counts = loaded
        counts.update(shard_counts)
        if index * RESAMPLED // max(total, RESAMPLED) == len(groups):
            groups.append({statistic.table_name: statistic.start(lens.sites) for statistic in resampled})
        for whole in merged:
            part = whole.start(lens.sites)
            part.state = state.get(whole.table_name, {})
            whole.merge(part)
            if whole.resampled:
                groups[-1][whole.table_name].merge(part)
    for statistic in merged:
        frame = statistic.table()
        if statistic.resampled:
            states = [group[statistic.table_name].state for group in groups]
            for column, (low, high) in intervals(statistic, states).items():
                frame[f"{column}_low"], frame[f"{column}_high"] = low, high
        save_table(run, statistic.table_name, frame)
    manifest = {**manifest, "finished": True, "counts": dict(counts), "shards": total}
    save_manifest(run, manifest)
    return Run(run, manifest)


RESAMPLED = 200  # groups of shards at the most
