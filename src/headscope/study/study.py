"""Study: a model, a corpus, a list of statistics -> a run directory that a kill cannot hurt.

The corpus is cut into fixed shards. Each shard's state depends on its own documents alone and is written
whole or not at all; the tables are the shards merged in order. So a run that was killed ten times and
resumed has the same bytes as one that was not.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from headscope.errors import InputError
from headscope.lens.lens import Lens
from headscope.lens.site import Site
from headscope.lens.source import ModelSource
from headscope.lens.tokens.encoder import AS_WRITTEN, Encoding
from headscope.progress import Progress, Silent
from headscope.remote import as_path
from headscope.statistics import STATISTICS, usual_statistics
from headscope.statistics.base import Statistic
from headscope.study.count import BatchSettings
from headscope.study.engine import Engine, Job, LocalEngine
from headscope.study.groups import describe, group_size
from headscope.study.intervals import intervals
from headscope.study.manifest import MadeWith, begin_run, check_run, is_begun, save_manifest
from headscope.study.run import Run
from headscope.study.shards import SHARD, shard_file, shards_at, shards_there
from headscope.study.state import State, load_state, save_state
from headscope.study.tables import save_table
from headscope.study.work import ShardCounts, Work
from headscope.text import Corpus
from headscope.text.as_read import notices
from headscope.text.corpus import OnError
from headscope.text.pieces import Cut


def study(
    lens: Lens | ModelSource,
    corpus: Corpus | Iterable[Any],
    statistics: Sequence[str | Statistic] | None = None,
    *,
    out: str | Path | None = None,
    batch_size: int = 16,
    max_tokens: int | None = None,
    truncate: bool = False,
    on_error: OnError = "stop",
    encoding: Encoding = AS_WRITTEN,
    shard_size: int = SHARD,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Run:
    """Count `statistics` (the usual ones by default) over a corpus; run it again to go on after an interruption.

    The model is an open lens, or a recipe that is opened for the study. `encoding` says how documents become tokens: as they
    are written, `headscope.lens.BY_WORD` for alignments of words, or a `Prompt` with source and target for a decoder.
    `engine` counts the shards: here, side by side where there are many, or on a cluster (`headscope.engines.Ray`).
    """
    batches = BatchSettings(batch_size, max_tokens, truncate, on_error, encoding)
    chosen = as_statistics(statistics)
    read = corpus if isinstance(corpus, Corpus) else Corpus.of(corpus, on_error=on_error)
    run = as_path(out) if out is not None else Path(tempfile.mkdtemp(prefix="headscope-"))
    if isinstance(lens, ModelSource):
        _check(run, lens, read, _settings(chosen, batches, shard_size))
    with lens.open() if isinstance(lens, ModelSource) else nullcontext(lens) as opened:
        cut = read.cut(shard_size)
        total = cut.documents
        manifest = _begin(run, opened, read, cut, _settings(chosen, batches, shard_size))
        made_with = MadeWith.of(opened, manifest)
        shards = -(-total // shard_size)
        work = Work(opened.source, chosen, batches, group_size(total), shards, made_with, read.annotator, read.on_error)
        progress = progress or Silent()
        for line in notices(manifest["corpus"]):
            progress.say(line)
        count_shards(run, work, read, cut, engine or LocalEngine(opened), progress)
        return _finish(run, opened.sites, chosen, shards, manifest)


def check_study(
    source: ModelSource,
    corpus: Corpus,
    statistics: Sequence[Statistic] | None,
    *,
    out: str | Path,
    shard_size: int = SHARD,
    **feed: Any,
) -> None:
    """Refuse a run directory that was begun with something else, before the model is opened; `statistics`, if known."""
    settings = _settings(statistics or (), BatchSettings(**feed), shard_size)
    if statistics is None:
        del settings["statistics"]
    _check(as_path(out), source, corpus, settings)


def _check(run: Path, source: ModelSource, corpus: Corpus, settings: dict[str, Any]) -> None:
    if is_begun(run):  # or the corpus would be read for nothing
        check_run(run, "study", source, settings, corpus={**corpus.describe(), "fingerprint": corpus.fingerprint()})


def _settings(statistics: Sequence[Statistic], batches: BatchSettings, shard_size: int) -> dict[str, Any]:
    """What a manifest says of what is counted, and how."""
    chosen = {statistic.table_name: statistic.settings() for statistic in statistics}
    return {**batches.describe(), "shard_size": shard_size, "statistics": chosen}


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


Changed = Mapping[str, Mapping[str, Any]]  # by the name of a statistic, what is not usual of its settings


def named_statistics(
    names: Sequence[str] | None, measures: Sequence[str], level: str, changed: Changed | None = None
) -> list[Statistic]:
    """Statistics (the usual ones for None) by each measure. One that counts at one level only is not asked for another."""
    counted, of = names or usual_statistics(), changed or {}
    _check_counted(of, counted)
    return [
        cls(measure=measure, level=level if level in cls.levels else cls.levels[0], **of.get(cls.name, {}))
        for cls in (STATISTICS[name] for name in counted)
        for measure in measures
    ]


def with_settings(statistics: Sequence[Statistic], changed: Changed) -> list[Statistic]:
    """The same statistics, some with other settings."""
    _check_counted(changed, [statistic.name for statistic in statistics])
    return [replace(statistic, **changed.get(statistic.name, {})) for statistic in statistics]


def _check_counted(changed: Changed, names: Sequence[str]) -> None:
    for name in changed:
        if name not in names:
            raise InputError(f"--set is about {name}, which is not counted: add -s {name}, or leave the setting out.")


def _begin(run: Path, lens: Lens, corpus: Corpus, cut: Cut, settings: dict[str, Any]) -> dict[str, Any]:
    """Write the manifest, or check it against the one that is there."""
    if cut.documents == 0:
        raise InputError("The corpus has no documents: there is nothing to count.")
    counted = {"fingerprint": corpus.fingerprint(), "documents": cut.documents, "skipped": cut.skipped.describe()}
    return begin_run(run, "study", lens, settings, corpus={**corpus.describe(), **counted})


def count_shards(run: Path, work: Job[ShardCounts], corpus: Corpus, cut: Cut, engine: Engine, progress: Progress) -> None:
    """Every shard that is not on the disk yet; it is there, whole, when it is counted as done."""
    size, total = cut.size, cut.documents
    shards = range(-(-total // size))
    finished = {index for index in shards_there(run) if index in shards and load_state(shard_file(run, index)) is not None}
    progress.begin(total, min(len(finished) * size, total))
    for done in engine.run(work, shards_at(cut, corpus.bare(), set(shards) - finished), progress):
        save_state(shard_file(run, done.index), done.state, done.groups, done.counts)
        progress.advance(done.documents)


def load_statistic(run: Run, lens: Lens, statistic: Statistic) -> Statistic:
    """A statistic of a finished run with its merged sums: for what takes a second pass over the corpus."""
    merged = statistic.start(lens.sites)
    for state, groups, _ in finished_shards(run.folder, run.manifest["shards"]):
        if merged.table_name not in state:
            raise InputError(f"{run.folder} has no {merged.table_name} in its shards; run it again.")
        for _, part in _parts(merged, lens.sites, state, groups):
            merged.merge(part)
    return merged


def load_groups(run: Run, lens: Lens, statistic: Statistic) -> dict[int, Statistic]:
    """The same by group of documents: what intervals draw again."""
    found: dict[int, Statistic] = {}
    for state, groups, _ in finished_shards(run.folder, run.manifest["shards"]):
        for group, part in _parts(statistic, lens.sites, state, groups):
            assert group is not None, f"{statistic.table_name} is not resampled"
            found.setdefault(group, statistic.start(lens.sites)).merge(part)
    return found


def finished_shards(run: Path, shards: int) -> Iterator[tuple[State, list[int], dict[str, int]]]:
    """The states of all shards, in order, their groups and their counts."""
    for index in range(shards):
        loaded = load_state(shard_file(run, index))
        if loaded is None:
            raise InputError(f"{run}: shard {index} is missing or damaged; run the same command again.")
        yield loaded


def _parts(
    statistic: Statistic, sites: Sequence[Site], state: State, groups: Sequence[int]
) -> Iterator[tuple[int | None, Statistic]]:
    """A statistic with the sums of one shard: with those of each group, where it is resampled, else of all together."""
    sums = state.get(statistic.table_name, {})
    rows = enumerate(groups) if statistic.resampled else [(..., None)]
    for row, group in rows:
        part = statistic.start(sites)
        part.state = {name: array[row] for name, array in sums.items()}
        yield group, part


def _finish(run: Path, sites: Sequence[Site], statistics: Sequence[Statistic], total: int, manifest: dict[str, Any]) -> Run:
    """Merge the shards in order, and write the tables."""
    merged = [statistic.start(sites) for statistic in statistics]
    groups: dict[str, dict[int, Statistic]] = {statistic.table_name: {} for statistic in statistics}
    counts: Counter[str] = Counter()
    met: set[int] = set()
    for state, shard_groups, shard_counts in finished_shards(run, total):
        counts.update(shard_counts)
        met.update(shard_groups)
        for whole in merged:
            for group, part in _parts(whole, sites, state, shard_groups):
                whole.merge(part)
                if group is not None:
                    groups[whole.table_name].setdefault(group, whole.start(sites)).merge(part)
    for statistic in merged:
        frame = statistic.table()
        if statistic.resampled:
            states = [group.state for group in groups[statistic.table_name].values()]
            for column, (low, high) in intervals(statistic, states).items():
                frame[f"{column}_low"], frame[f"{column}_high"] = low, high
        save_table(run, statistic.table_name, frame)
    about = describe(len(met), group_size(manifest["corpus"]["documents"]))
    manifest = {**manifest, "finished": True, "counts": dict(counts), "shards": total, "intervals": about}
    save_manifest(run, manifest)
    return Run(run, manifest)
