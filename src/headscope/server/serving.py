"""From models and settings to a server that runs until it is interrupted."""

import asyncio
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from headscope.errors import InputError
from headscope.lens import Lens
from headscope.server.app import make_app
from headscope.server.settings import Settings

PATIENCE = 2  # seconds that running requests get to end after an interruption
HEAD_SECONDS = 30  # that a request's first lines may take to arrive


def serve(models: Mapping[str, Lens], run: Path | None, settings: Settings, say: Callable[[Settings], object]) -> None:
    """Serve until an interruption; `say` is called once the address is ours, with the port that was free."""
    with listen(settings.host, settings.port) as listening:
        settings = replace(settings, port=listening.getsockname()[1])
        server = make_server(models, run, settings)
        say(settings)
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


class Connection(H11Protocol):
    """A connection that is closed when it does not say in time what it wants: uvicorn itself would wait for ever."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._waiting = self.loop.call_later(HEAD_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:  # a request is being answered
            self._stop_waiting()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


class Server(uvicorn.Server):
    """A server that does not wait for models when it is to end."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.config.app.state.queue.stop()  # type: ignore[union-attr]
        await super().shutdown(sockets)


def make_server(models: Mapping[str, Lens], run: Path | None, settings: Settings) -> Server:
    app = make_app(models, run, settings=settings)
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        proxy_headers=False,  # nobody stands between: a request says nothing of where it comes from
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=PATIENCE,
    )
    return Server(config)


def listen(host: str, port: int) -> socket.socket:
    """A socket at this address, or a sentence about why not."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        why = (getattr(error, "strerror", None) or str(error)).split(" (while")[0]
        raise InputError(
            f"No server can listen at {host}, port {port} ({why}): choose another with --port (0 takes a free one)."
        ) from error
