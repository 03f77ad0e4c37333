"""Tiny models behind the application, in this process and behind a real server on a free port."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import headscope
from headscope.lens import Lens
from headscope.server import Settings, make_app
from headscope.server.serving import listen, make_server
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

HOST = "http://127.0.0.1:8765"
TEXT = "the cats sat on the unbelievable mat"


@pytest.fixture(scope="module")
def lenses() -> Iterator[dict[str, Lens]]:
    """An encoder and an encoder-decoder."""
    with (
        headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as bert,
        headscope.open(tiny("marian"), tiny_tokenizer("bpe")) as marian,
    ):
        yield {"bert": bert, "fr-en": marian}


@pytest.fixture(scope="module")
def client(lenses: dict[str, Lens]) -> Iterator[TestClient]:
    with TestClient(make_app(lenses), base_url=HOST) as opened:
        yield opened


@contextmanager
def client_of(lenses: dict[str, Lens], run: Path | None = None, **settings: Any) -> Iterator[TestClient]:
    with TestClient(make_app(lenses, run, settings=Settings(**settings)), base_url=HOST) as opened:
        yield opened


@pytest.fixture
def serving() -> Iterator[Callable[..., tuple[str, Any]]]:
    """Start a real uvicorn on a free port: its address, and its application."""
    stop: list[Callable[[], None]] = []

    def start(lenses: dict[str, Lens], run: Path | None = None, **changes: Any) -> tuple[str, Any]:
        settings = Settings(**{"port": 0, **changes})
        listening = listen(settings.host, settings.port)
        settings = replace(settings, port=listening.getsockname()[1])
        server = make_server(lenses, run, settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()

        def end() -> None:
            server.should_exit = True
            thread.join(20)
            listening.close()
            assert not thread.is_alive(), "the server does not end"

        stop.append(end)
        return f"http://127.0.0.1:{settings.port}", server.config.app

    yield start
    for end in stop:
        end()
