"""A real server under load: everybody is answered or refused, who leaves stops the model, memory comes back."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

import headscope
from headscope.errors import InputError
from headscope.lens import Lens
from headscope.server import Settings, reading
from headscope.server.serving import listen, make_server
from tests.server.conftest import TEXT

Serving = Callable[..., tuple[str, Any]]
AT_ONCE = 200
ASKED = {"model": "bert", "text": TEXT}


@pytest.fixture(scope="module")
def real(minilm: Path) -> Iterator[Lens]:
    with headscope.open(minilm) as lens:
        yield lens


def resident() -> int:
    """Megabytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 // 1_000_000


async def crowd(address: str, bodies: list[dict[str, Any]]) -> list[httpx2.Response]:
    limits = httpx2.Limits(max_connections=len(bodies))
    async with httpx2.AsyncClient(base_url=address, limits=limits, timeout=120) as client:
        return await asyncio.gather(*(client.post("/api/read", json=body) for body in bodies))


def check_crowd(answers: list[httpx2.Response], least: int) -> None:
    counts = Counter(answer.status_code for answer in answers)
    print(dict(counts))
    assert set(counts) <= {200, 503}
    assert counts[200] >= least
    for answer in answers:
        if answer.status_code == 503:
            assert 1 <= int(answer.headers["retry-after"]) <= 60
            assert "try again" in answer.json()["error"]


@pytest.mark.slow
def test_a_crowd_is_answered_or_refused(serving: Serving, lenses: dict[str, Lens]) -> None:
    address, app = serving(lenses, max_waiting=20)
    bodies = [
        {"model": "bert", "text": f"{TEXT} {'cat ' * (number % 40)}", "exact": number % 2 == 0} for number in range(AT_ONCE)
    ]
    check_crowd(asyncio.run(crowd(address, bodies)), least=21)
    assert app.state.queue.waiting == 0
    assert httpx2.post(f"{address}/api/read", json=bodies[0]).status_code == 200


@pytest.mark.slow
@pytest.mark.real
def test_a_crowd_at_a_real_model_gives_its_memory_back(serving: Serving, real: Lens) -> None:
    address, app = serving({"minilm": real}, max_waiting=32)
    text = "the keys to the old cabinet are on the table "

    def body(number: int) -> dict[str, Any]:
        return {
            "model": "minilm",
            "text": f"{number} " + text * (1 + number % 20),
            "measures": ["weight", "norm", "joint_norm"],
        }

    asyncio.run(crowd(address, [body(number) for number in range(19, 40)]))  # everything is loaded, and what is kept is full
    before = resident()
    begun = time.monotonic()
    answers = asyncio.run(crowd(address, [body(number) for number in range(100, 100 + AT_ONCE)]))
    seconds = time.monotonic() - begun
    check_crowd(answers, least=33)
    del answers
    assert app.state.queue.waiting == 0
    print(f"{AT_ONCE} requests in {seconds:.1f} s; resident {before} MB before, {resident()} MB after")
    assert resident() < before + 150


def test_a_request_that_is_abandoned_stops_the_model(
    serving: Serving, lenses: dict[str, Lens], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client hangs up while the first of three layers is being read; the second is never packed."""
    address, app = serving(lenses)
    begun, packed = threading.Event(), []
    content_of = reading.content_of

    def slow(*given: Any, **named: Any) -> Any:
        packed.append(1)
        begun.set()
        time.sleep(0.5)
        return content_of(*given, **named)

    monkeypatch.setattr(reading, "content_of", slow)
    place = urlsplit(address)
    with socket.create_connection((place.hostname, place.port)) as connection:
        body = b'{"model": "bert", "text": "the cat sat"}'
        head = f"POST /api/read HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert begun.wait(10)
        assert app.state.queue.waiting == 1
    wait_until(lambda: app.state.queue.waiting == 0)
    assert len(packed) == 1
    monkeypatch.undo()
    assert httpx2.post(f"{address}/api/read", content=body, headers={"Content-Type": "application/json"}).status_code == 200


def test_a_request_that_is_abandoned_in_line_is_dropped(
    serving: Serving, lenses: dict[str, Lens], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, app = serving(lenses)
    gate, read = threading.Event(), []
    as_it_was = reading.read

    def gated(lens: Lens, asked: Any, *others: Any) -> Any:
        read.append(asked.text)
        gate.wait(20)
        return as_it_was(lens, asked, *others)

    monkeypatch.setattr(reading, "read", gated)

    async def ask() -> None:
        async with httpx2.AsyncClient(base_url=address, timeout=30) as client:
            first = asyncio.ensure_future(client.post("/api/read", json={"model": "bert", "text": "the first"}))
            await until(lambda: bool(read))
            second = asyncio.ensure_future(client.post("/api/read", json={"model": "bert", "text": "the second"}))
            await until(lambda: app.state.queue.waiting == 2)
            second.cancel()
            await until(lambda: app.state.queue.waiting == 1)
            gate.set()
            assert (await first).status_code == 200

    asyncio.run(ask())
    assert read == ["the first"]


def test_a_server_ends_while_it_works(lenses: dict[str, Lens], monkeypatch: pytest.MonkeyPatch) -> None:
    """Three layers of two seconds each: it is done after the one that runs, and the others get a sentence."""
    content_of = reading.content_of
    monkeypatch.setattr(reading, "content_of", lambda *given, **named: (time.sleep(2), content_of(*given, **named))[1])
    answers: list[httpx2.Response] = []
    with listen("127.0.0.1", 0) as listening:
        settings = Settings(port=listening.getsockname()[1])
        server = make_server(lenses, None, settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        asking = threading.Thread(
            target=lambda: answers.append(httpx2.post(f"{settings.address}api/read", json=ASKED, timeout=20))
        )
        asking.start()
        queue = server.config.app.state.queue  # type: ignore[union-attr]
        wait_until(lambda: queue.waiting == 1)
        begun = time.monotonic()
        server.should_exit = True
        thread.join(20)
        asking.join(20)
    assert time.monotonic() - begun < 3.5
    assert [answer.status_code for answer in answers] == [503]


def test_a_port_that_is_taken() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(InputError, match="choose another with --port"):
        listen("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(InputError, match=r"No server can listen at no\.such\.host\.example"):
        listen("no.such.host.example", 0)


def wait_until(done: Callable[[], bool], seconds: float = 10) -> None:
    asyncio.run(until(done, seconds))


async def until(done: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it does not come to pass"
        await asyncio.sleep(0.01)
