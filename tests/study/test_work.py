"""A study's unit of work is data: another process opens the model from its recipe and counts a shard to the same bytes."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import headscope
from headscope.errors import InputError
from headscope.lens import ModelSource
from headscope.progress import Progress
from headscope.statistics import STATISTICS, Entropy, Statistic
from headscope.study.shards import Shard, shard_file
from headscope.study.work import ShardCounts, Work
from headscope.text import Corpus
from tests.papers.samples import save_tiny

TEXTS = [f"the {'cat ' * (1 + n % 9)}sat on the mat , and the dog" for n in range(12)]
COUNTED = [Entropy(measure="norm", level="word"), "distance", "jensen_shannon", "norm_correlation", "exemplars"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> ModelSource:
    folder = tmp_path_factory.mktemp("models") / "small"
    save_tiny(folder, "bert")
    return ModelSource(str(folder), random_init=4)


def count_elsewhere(sent: bytes) -> bytes:
    """What a worker does: it has nothing but what was sent."""
    work, shard = pickle.loads(sent)
    with work.source.open() as lens:
        return pickle.dumps(work.count(lens, shard))


class OtherProcess:
    """An engine that has no lens: shards are counted in a process that was just begun."""

    def run(self, work: Work, shards: Iterable[Shard], progress: Progress) -> Iterator[ShardCounts]:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            for answer in pool.imap(count_elsewhere, (pickle.dumps((work, shard)) for shard in shards)):
                yield pickle.loads(answer)


def files_of(run: Path) -> dict[str, bytes]:
    return {str(file.relative_to(run)): file.read_bytes() for file in sorted(run.rglob("*")) if file.is_file()}


def test_another_process_counts_the_same_bytes(source: ModelSource, tmp_path: Path) -> None:
    here = headscope.study(source, TEXTS, COUNTED, out=tmp_path / "here", shard_size=6)
    there = headscope.study(source, TEXTS, COUNTED, out=tmp_path / "there", shard_size=6, engine=OtherProcess())
    assert shard_file(here.folder, 1).is_file()
    assert files_of(here.folder) == files_of(there.folder)


def test_a_lens_and_its_recipe_make_the_same_run(source: ModelSource, tmp_path: Path) -> None:
    headscope.study(source, TEXTS, ["entropy"], out=tmp_path / "recipe")
    with source.open() as lens:
        headscope.study(lens, TEXTS, ["entropy"], out=tmp_path / "lens")
        assert not lens.closed
    assert files_of(tmp_path / "recipe") == files_of(tmp_path / "lens")


@pytest.mark.parametrize("name", sorted(STATISTICS))
def test_every_statistic_can_be_sent(name: str) -> None:
    try:
        statistic: Statistic = STATISTICS[name]()
    except (TypeError, InputError):
        pytest.skip(f"{name} is nothing without its settings")
    sent = pickle.loads(pickle.dumps(statistic))
    assert (sent.table_name, sent.settings()) == (statistic.table_name, statistic.settings())


def test_a_corpus_can_be_sent(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS))
    for corpus in (Corpus.of(tmp_path / "corpus.txt"), Corpus.of(TEXTS)):
        assert list(pickle.loads(pickle.dumps(corpus))) == list(corpus)
