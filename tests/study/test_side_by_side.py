"""Items side by side are all made, each in a copy of this process; and shards side by side have the bytes of one by one."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import headscope
from headscope.errors import HeadscopeError, InputError
from headscope.lens import Lens
from headscope.statistics import usual_statistics
from headscope.study import side_by_side as room
from headscope.study.side_by_side import MOST, TURNS, copies_for, side_by_side
from headscope.text import Document
from tests.study.test_study import TEXTS, bytes_of
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")

MANY = [f"{text} {'the dog ' * (number % 4)}" for number in range(3) for text in TEXTS]
COUNTED = [*usual_statistics(), "jensen_shannon", "norm_correlation", "exemplars", "position_map", "mixing"]


@contextmanager
def cores(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@pytest.fixture
def lens() -> Iterator[Lens]:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as opened:
        yield opened


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(), max_size=8), st.integers(1, 3))
def test_every_item_is_made_once(items: list[int], copies: int) -> None:
    assert sorted(side_by_side(lambda item: 2 * item, items, copies)) == sorted(2 * item for item in items)


def test_they_are_copies_and_run_at_the_same_time(tmp_path: Path) -> None:
    def make(name: str) -> int:
        (tmp_path / name).touch()
        until = time.monotonic() + 30
        while not ((tmp_path / "a").exists() and (tmp_path / "b").exists()):
            assert time.monotonic() < until, "the other has not begun"
            time.sleep(0.01)
        return os.getpid()

    found = set(side_by_side(make, "ab", copies=2))
    assert len(found) == 2
    assert os.getpid() not in found


def test_items_are_taken_as_they_are_needed() -> None:
    taken: list[int] = []
    items = (taken.append(item) or item for item in range(100))  # type: ignore[func-returns-value]
    found = side_by_side(lambda item: item, items, copies=2)
    next(found)
    assert len(taken) <= 3
    found.close()


def test_each_has_one_core_and_this_process_what_it_had() -> None:
    with cores(4):
        assert set(side_by_side(lambda _: torch.get_num_threads(), range(4), copies=2)) == {1}
        assert torch.get_num_threads() == 4


def test_a_product_of_many_cores_before_does_not_stop_a_copy() -> None:
    matrix = torch.randn(600, 600)
    with cores(2):
        expected = float((matrix @ matrix).sum())
        found = list(side_by_side(lambda _: float((matrix @ matrix).sum()), range(4), copies=2))
    assert found == pytest.approx([expected] * 4, rel=1e-3)


def test_where_it_is_done_here(lens: Lens, monkeypatch: pytest.MonkeyPatch) -> None:
    with cores(4):
        assert [copies_for(lens, items) for items in (0, 1, 4 * TURNS - 1, 4 * TURNS, 100)] == [1, 1, 1, 4, 4]
    for count, copies in ((1, 1), (2 * MOST, MOST), (2 * MOST + 1, 1)):
        with cores(count):
            assert copies_for(lens, 1000) == copies
    with cores(2):
        monkeypatch.setattr(room, "LARGEST", 1)
        assert copies_for(lens, 1000) == 1
        monkeypatch.undo()
        monkeypatch.setattr(sys, "platform", "darwin")
        assert copies_for(lens, 1000) == 1


def test_after_an_error_what_was_begun_is_finished(tmp_path: Path) -> None:
    def make(item: int) -> int:
        if item == 1:
            (tmp_path / "failed").touch()
            raise InputError("number 1")
        while not (tmp_path / "failed").exists():
            time.sleep(0.01)
        return item

    found: list[int] = []
    with pytest.raises(InputError, match="number 1"):
        found.extend(side_by_side(make, range(100), copies=2))
    assert len(found) <= 2


def test_a_mistake_says_where_it_was_made() -> None:
    def divide(item: int) -> float:
        return 1 / item

    with pytest.raises(ZeroDivisionError) as found:
        list(side_by_side(divide, [0], copies=1))
    assert "in divide" in found.value.__notes__[0]


def test_an_error_that_cannot_be_sent_is_told() -> None:
    class Local(Exception):
        pass

    def make(item: int) -> int:
        raise Local("what went wrong")

    with pytest.raises(RuntimeError, match="Local: what went wrong"):
        list(side_by_side(make, range(3), copies=2))


def test_an_error_of_the_items_comes_after_what_was_begun() -> None:
    def items() -> Iterator[int]:
        yield 0
        raise InputError("cannot be read")

    found = side_by_side(lambda item: item, items(), copies=2)
    assert next(found) == 0
    with pytest.raises(InputError, match="cannot be read"):
        next(found)


def test_a_copy_that_is_killed_is_told() -> None:
    with pytest.raises(HeadscopeError, match="no memory was left"):
        list(side_by_side(lambda _: os.kill(os.getpid(), signal.SIGKILL), range(4), copies=2))


def test_who_stops_ends_what_is_running() -> None:
    def make(item: int) -> int:
        if item:
            time.sleep(60)
        return os.getpid()

    found = side_by_side(make, range(3), copies=2)
    next(found)
    began = time.monotonic()
    found.close()
    assert time.monotonic() - began < 20


def test_other_threads_do_not_matter() -> None:
    stop = threading.Event()
    busy = threading.Thread(target=lambda: [sum(range(1000)) for _ in iter(stop.is_set, True)])
    busy.start()
    try:
        assert sorted(side_by_side(lambda item: item, range(6), copies=2)) == list(range(6))
    finally:
        stop.set()
        busy.join()


@pytest.mark.parametrize("family", ["bert", "llama", "marian"])
def test_a_study_has_the_bytes_of_one_shard_after_another(family: str, tmp_path: Path) -> None:
    documents = [Document(text, target=text[::-1]) if family == "marian" else Document(text) for text in MANY]
    counted = COUNTED if family == "bert" else usual_statistics()
    kind = {"bert": "wordpiece", "llama": "bpe", "marian": "unigram"}[family]
    with headscope.open(tiny(family), tiny_tokenizer(kind)) as lens:
        for count in (1, 2):
            with cores(count):
                headscope.study(lens, documents, counted, out=tmp_path / str(count), shard_size=3, batch_size=3)
    assert bytes_of(tmp_path / "1") == bytes_of(tmp_path / "2")


def test_a_model_without_a_head_is_without_it_in_its_copies(lens: Lens, tmp_path: Path) -> None:
    with lens.without("1.1", how="zero"):
        for count in (1, 2):
            with cores(count):
                headscope.study(lens, MANY, ["entropy"], out=tmp_path / str(count), shard_size=3)
    headscope.study(lens, MANY, ["entropy"], out=tmp_path / "whole", shard_size=3)
    assert bytes_of(tmp_path / "1") == bytes_of(tmp_path / "2") != bytes_of(tmp_path / "whole")


def test_a_text_that_cannot_be_read_loses_no_shard_before_it(lens: Lens, tmp_path: Path) -> None:
    texts = [*MANY[:10], "the cat " * 40, *MANY[10:]]
    with cores(2), pytest.raises(InputError, match="item 11: The text has"):
        headscope.study(lens, texts, ["entropy"], out=tmp_path / "run", shard_size=2)
    there = {file.stem for file in (tmp_path / "run" / "shards").iterdir()}
    assert there == {f"{index:06d}" for index in range(5)}
