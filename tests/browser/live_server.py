"""A real server on a free port, in a thread of this process, for pages to talk to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from headscope.lens import Lens
from headscope.server import Settings
from headscope.server.serving import listen, make_server


class Server:
    """A server in a thread of its own: where it is, and its application."""

    def __init__(self, models: dict[str, Lens], run: Path | None = None, **changes: Any) -> None:
        settings = Settings(port=0, **changes)
        self.listening = listen(settings.host, settings.port)
        settings = replace(settings, port=self.listening.getsockname()[1])
        self.server = make_server(models, run, settings)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listening]})
        self.thread.start()
        self.address = f"http://127.0.0.1:{settings.port}/"
        self.pages: list[Any] = []  # contexts of a browser that look at it

    @property
    def queue(self) -> Any:
        return self.server.config.app.state.queue

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        self.listening.close()


@contextmanager
def serving(models: dict[str, Lens], run: Path | None = None, **changes: Any) -> Iterator[Server]:
    server = Server(models, run, **changes)
    try:
        yield server
    finally:
        for page in server.pages:  # or what a page has just asked for is answered with 503: the server is being stopped
            page.close()
        server.stop()
