"""From models and settings to a server that runs until it is interrupted."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import uvicorn

from headscope.errors import InputError
from headscope.lens import Lens
from headscope.server.app import make_app
from headscope.server.settings import Settings

PATIENCE = 2  # seconds that running requests get to end after an interruption


def serve(models: Mapping[str, Lens], run: Path | None, settings: Settings, say: Callable[[Settings], object]) -> None:
    """Serve until an interruption; `say` is called once the address is ours, with the port that was free."""
    with listen(settings.host, settings.port) as listening:
        settings = replace(settings, port=listening.getsockname()[1])
        server = make_server(models, run, settings)
        say(settings)
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


class Server(uvicorn.Server):
    """A server that does not wait for models when it is to end."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.config.app.state.queue.stop()  # type: ignore[union-attr]
        await super().shutdown(sockets)


def make_server(models: Mapping[str, Lens], run: Path | None, settings: Settings) -> Server:
    app = make_app(models, run, settings=settings)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=PATIENCE, ws="none"
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
