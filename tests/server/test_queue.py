"""One run at a time, a line that ends, and no work for those who have left."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from headscope.server.queue import Abandoned, Check, Queue
from headscope.server.refusal import Refusal


async def never() -> None:
    await asyncio.Event().wait()


async def when(event: threading.Event) -> None:
    while not event.is_set():
        await asyncio.sleep(0.005)


def until_stopped(begun: threading.Event) -> Callable[[Check], None]:
    """Work that ends only by its check."""

    def work(check: Check) -> None:
        begun.set()
        for _ in range(2000):
            check()
            time.sleep(0.005)

    return work


def test_one_at_a_time_in_order() -> None:
    running, most, order = 0, 0, []

    def work(number: int) -> Callable[[Check], int]:
        def run(check: Check) -> int:
            nonlocal running, most
            running += 1
            most = max(most, running)
            time.sleep(0.01)
            order.append(number)
            running -= 1
            return number

        return run

    async def all_of_them() -> list[int]:
        queue = Queue(10)
        found = await asyncio.gather(*(queue.run(work(number), never) for number in range(8)))
        assert queue.waiting == 0
        queue.close()
        return found

    assert asyncio.run(all_of_them()) == list(range(8)) == order
    assert most == 1


def test_the_line_has_an_end() -> None:
    async def crowd() -> list[int | BaseException]:
        queue = Queue(2)
        gate = threading.Event()
        asked = [asyncio.ensure_future(queue.run(lambda check: gate.wait(10) and 1, never)) for _ in range(6)]
        await asyncio.sleep(0.05)
        gate.set()
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert await queue.run(lambda check: 2, never) == 2  # there is room again
        queue.close()
        return found

    found = asyncio.run(crowd())
    assert found[:3] == [1, 1, 1]
    for refused in found[3:]:
        assert isinstance(refused, Refusal)
        assert refused.status == 503
        assert 1 <= int(refused.headers["Retry-After"]) <= 60


def test_who_leaves_stops_the_run() -> None:
    async def leave() -> float:
        queue, begun = Queue(2), threading.Event()
        with pytest.raises(Abandoned):
            await queue.run(until_stopped(begun), lambda: when(begun))
        started = time.monotonic()
        assert await queue.run(lambda check: 3, never) == 3  # waits for the thread
        queue.close()
        return time.monotonic() - started

    assert asyncio.run(leave()) < 2


def test_who_leaves_the_line_is_never_run() -> None:
    async def leave() -> list[str]:
        queue, begun, gate, left, runs = Queue(5), threading.Event(), threading.Event(), threading.Event(), []

        def first(check: Check) -> None:
            begun.set()
            gate.wait(10)

        one = asyncio.ensure_future(queue.run(first, never))
        other = asyncio.ensure_future(queue.run(lambda check: runs.append("ran"), lambda: when(left)))
        await when(begun)
        left.set()
        with pytest.raises(Abandoned):
            await other
        assert queue.waiting == 1
        gate.set()
        await one
        queue.close()
        return runs

    assert asyncio.run(leave()) == []


def test_closing_stops_everything() -> None:
    async def close() -> None:
        queue, begun = Queue(5), threading.Event()
        asked = [asyncio.ensure_future(queue.run(until_stopped(begun), never)) for _ in range(3)]
        await when(begun)
        queue.close()
        refused = [*await asyncio.gather(*asked, return_exceptions=True)]
        refused += await asyncio.gather(queue.run(lambda check: 1, never), return_exceptions=True)
        assert [getattr(error, "status", error) for error in refused] == [503] * 4
        assert queue.waiting == 0

    asyncio.run(asyncio.wait_for(close(), 5))


def test_an_error_is_the_callers() -> None:
    async def fail() -> None:
        queue = Queue(1)
        with pytest.raises(ZeroDivisionError):
            await queue.run(lambda check: 1 // 0, never)
        assert queue.waiting == 0
        queue.close()

    asyncio.run(fail())
