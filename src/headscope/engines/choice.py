"""Which engine a command was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from headscope.engines.ray_engine import Ray
from headscope.errors import InputError
from headscope.study.engine import Engine

Name = Literal["local", "ray"]


@contextmanager
def chosen_engine(name: Name, address: str | None = None, workers: int | None = None) -> Iterator[Engine | None]:
    """None for what is done here, by the lens that is open; what was started elsewhere ends with the block."""
    if name == "local":
        for flag, given in (("--address", address), ("--workers", workers)):
            if given is not None:
                raise InputError(f"{flag} is about --engine ray: give that too, or leave {flag} out.")
        yield None
        return
    with Ray(address, workers) as engine:
        yield engine
