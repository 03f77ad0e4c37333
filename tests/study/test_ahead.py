"""What is made one item ahead comes in order, with its errors where they belong; and a study prepares its shards so."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import headscope
from headscope.errors import InputError
from headscope.lens import Lens
from headscope.progress import Progress
from headscope.study.ahead import ahead
from headscope.study.engine import Done, Job
from headscope.study.shards import Shard
from headscope.study.work import Work
from headscope.text import Document
from tests.study.test_study import TEXTS, bytes_of
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer


class OneByOne:
    """Everything in one thread, as it would be without `ahead`."""

    def __init__(self, lens: Lens) -> None:
        self.lens = lens

    def run(self, job: Job[Done], shards: Iterable[Shard], progress: Progress) -> Iterator[Done]:
        for shard in shards:
            yield job.count(self.lens, shard)


@pytest.fixture
def lens() -> Iterator[Lens]:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as opened:
        yield opened


@given(st.lists(st.integers()))
def test_all_of_them_in_order(items: list[int]) -> None:
    assert list(ahead(lambda item: 2 * item, items)) == [2 * item for item in items]


def test_the_next_is_made_while_one_is_worked_on() -> None:
    made = {name: threading.Event() for name in "abc"}

    def make(name: str) -> str:
        made[name].set()
        return name

    for name, following in zip(ahead(make, "abc"), "bc", strict=False):
        assert made[following].wait(10), f"{following} was not made while {name} was in hand"


def test_nothing_is_made_two_ahead() -> None:
    begun: list[int] = []
    for item in ahead(lambda item: (begun.append(item), item)[1], range(10)):
        assert max(begun) <= item + 1


def test_an_error_comes_at_its_item() -> None:
    items = ahead(lambda item: 1 / item, [1, 2, 0, 4])
    assert [next(items), next(items)] == [1, 0.5]
    with pytest.raises(ZeroDivisionError):
        next(items)


def test_who_stops_does_not_wait() -> None:
    go_on = threading.Event()

    def make(item: int) -> int:
        if item:
            go_on.wait(30)
        return item

    items = ahead(make, [0, 1, 2])
    assert next(items) == 0
    items.close()  # the thread is still at item 1
    assert not go_on.is_set()
    go_on.set()
    assert list(items) == []


def test_a_study_has_the_same_bytes_as_without_a_thread(lens: Lens, tmp_path: Path) -> None:
    texts = [*TEXTS, "the cat " * 40]  # too long: skipped
    for name, engine in (("ahead", None), ("one", OneByOne(lens))):
        headscope.study(lens, texts, out=tmp_path / name, shard_size=5, batch_size=3, on_error="skip", engine=engine)
    assert bytes_of(tmp_path / "ahead") == bytes_of(tmp_path / "one")
    assert (tmp_path / "ahead" / "manifest.json").read_bytes() == (tmp_path / "one" / "manifest.json").read_bytes()


def test_shards_before_one_that_cannot_be_read_are_kept(lens: Lens, tmp_path: Path) -> None:
    texts = [*TEXTS[:10], "the cat " * 40, *TEXTS[10:]]
    with pytest.raises(InputError, match="item 11: The text has"):
        headscope.study(lens, texts, ["entropy"], out=tmp_path / "run", shard_size=5)
    assert sorted(file.name for file in (tmp_path / "run" / "shards").iterdir()) == [
        "000000.safetensors",
        "000001.safetensors",
    ]


def test_texts_become_tokens_in_another_thread(lens: Lens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []
    really = Work.prepare
    monkeypatch.setattr(Work, "prepare", lambda *given: (threads.append(threading.current_thread().name), really(*given))[1])
    headscope.study(lens, [Document(text) for text in TEXTS], ["entropy"], out=tmp_path / "run", shard_size=5)
    assert threads
    assert all(name.startswith("headscope-ahead") for name in threads)
