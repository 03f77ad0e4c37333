"""What Ray costs: throughput against this process, time a shard, the size of states, and a driver with 1,000 workers."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Any

import torch

import headscope
from benchmarks.memory import Memory, in_fresh_process, memory_of
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from benchmarks.simulated_workers import Simulated
from benchmarks.study_cost import _sentences
from benchmarks.timing import alternate, as_ratios
from headscope.demo.model import open_model
from headscope.engines import Ray
from headscope.progress import Silent
from headscope.statistics import STATISTICS, Statistic, usual_statistics
from headscope.study.count import BatchSettings
from headscope.study.engine import LocalEngine
from headscope.study.groups import group_size
from headscope.study.manifest import MadeWith
from headscope.study.shards import Shard, shards_of
from headscope.study.work import ShardCounts, Work
from headscope.text import Document

WORKERS = 2
SHARD, SHARDS = 64, 4
MANY_WORKERS, MANY_SHARDS = 1_000, 2_000
SECONDS = 0.5  # that a simulated worker takes for a shard: less than any real one, so that the driver has no rest
HERE, THERE = "this process, 2 threads", "Ray, 2 workers of a thread"
STORE = {"object_store_memory": 300 * 2**20}


@dataclass(frozen=True)
class Nothing:
    """What is left of a shard when nothing is counted: handing it out, and taking it back."""

    source: Any
    made_with: MadeWith

    def count(self, lens: headscope.Lens, shard: Shard) -> ShardCounts:
        return ShardCounts(shard.index, len(shard.documents), {}, [], {})


def ray_speed(settings: Settings) -> list[Row]:
    """A study's shards by two workers of a thread each against this process with two; models are open, texts short."""
    shards = 2 if settings.quick else SHARDS
    with open_model() as lens, two_threads(), Ray(workers=WORKERS, init={"num_cpus": WORKERS, **STORE}) as engine:
        documents = [Document(text) for text in islice(cycle(_sentences()), SHARD * shards)]
        chosen = [STATISTICS[name]() for name in usual_statistics()]
        batches = BatchSettings(16, 128, True)
        work = Work(lens.source, chosen, batches, group_size(len(documents)), shards, MadeWith.of(lens))

        def count(by: Any) -> int:
            """How many tokens that were."""
            cut = list(shards_of(documents, SHARD, set(range(shards))))
            done = list(by.run(work, cut, Silent()))
            assert len(done) == shards
            return sum(one.counts["tokens"] for one in done)

        begun = time.perf_counter()
        tokens = count(engine)  # workers start, and open the model
        start = time.perf_counter() - begun
        times = alternate({HERE: lambda: count(LocalEngine(lens)), THERE: lambda: count(engine)}, settings.repeats)
        rows = as_ratios(times, HERE, {THERE: Target("<=", 1 / 0.9)})
        empty = Nothing(lens.source, work.made_with)
        number = 20 if settings.quick else 2000
        many = list(shards_of(documents[:1] * number, 1, set(range(number))))
        begun = time.perf_counter()
        assert len(list(engine.run(empty, many, Silent()))) == len(many)
        each = (time.perf_counter() - begun) / len(many)
    rows.append(Row("tokens of both workers", [tokens / median(times[THERE])], "tokens/s"))
    return [*rows, Row("workers, until the first study is counted", [start], "s"), Row("Ray, a shard", [1e3 * each], "ms")]


def state_sizes(settings: Settings) -> list[Row]:
    """The size of a shard's state, for each statistic that any text has: all-MiniLM-L6-v2, 72 heads, one group of texts."""
    with open_model() as lens:
        state = real_state(lens, 16 if settings.quick else 64, of_any_text()).state
    sizes = {name: sum(array.nbytes for array in sums.values()) / 1e3 for name, sums in state.items()}
    usual = sum(sizes[name] for name in usual_statistics())
    largest = sorted(sizes.items(), key=lambda one: -one[1])
    return [Row("all usual statistics", [usual], "KB"), *(Row(name, [size], "KB") for name, size in largest if size)]


def thousand_workers(settings: Settings) -> list[Row]:
    """A driver with 1,000 simulated workers, each real state after half a second: its rate, memory and merging."""
    workers, shards = (20, 60) if settings.quick else (MANY_WORKERS, MANY_SHARDS)
    found: Any = in_fresh_process(_thousand, workers, shards, 0.1 if settings.quick else SECONDS)
    memory, rate, merging = found
    return [
        Row(f"{shards:,} shards of {workers:,} workers, each", [1e3 / rate], "ms"),
        Row("driver's memory", [memory.peak], "MB", memory.peak, "MB", "in all", Target("<=", 1000)),
        Row(f"merging {shards:,} states", [merging], "s"),
    ]


def _thousand(workers: int, shards: int, seconds: float) -> tuple[Memory, float, float]:
    heard = Heard()
    with open_model() as lens, tempfile.TemporaryDirectory() as folder:
        state = real_state(lens, 16)
        engine = Ray(workers=workers, init=None)
        engine.cluster = Simulated(workers, state, seconds, group_size(shards), num_cpus=2, **STORE)
        path = Path(folder) / "corpus.txt"
        path.write_text("a text\n" * shards)

        def work() -> None:
            headscope.study(lens, path, out=Path(folder) / "run", shard_size=1, engine=engine, progress=heard)
            heard.advance(0)  # merged

        with engine:
            memory = memory_of(work)
    first, *_, last, merged = heard.times
    return memory, (shards - 1) / (last - first), merged - last


class Heard(Silent):
    """When shards came."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def advance(self, documents: int) -> None:
        self.times.append(time.monotonic())


def of_any_text() -> list[Statistic]:
    """Those that need neither annotations nor gradients, files, a first pass or a translation."""
    without = {"frequency", "frequency_curve", "variability", "head_agreement"}
    return [cls() for name, cls in STATISTICS.items() if not (cls.needs or cls.gradients or name in without)]


def real_state(lens: headscope.Lens, texts: int, statistics: Sequence[Statistic] | None = None) -> ShardCounts:
    """What a worker sends back for a shard in one group of texts; of the usual statistics, where nothing else is said."""
    documents = [Document(text) for text in islice(cycle(_sentences()), texts)]
    chosen = statistics or [STATISTICS[name]() for name in usual_statistics()]
    work = Work(lens.source, chosen, BatchSettings(16, 64, True), texts, 1, MadeWith.of(lens))
    return work.count(lens, Shard(0, 0, documents))


@contextmanager
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(WORKERS)
    yield
    torch.set_num_threads(before)
