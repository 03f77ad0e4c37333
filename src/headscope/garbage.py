"""Garbage is not looked for among what a command loads: libraries and a model, which stay until its end.

They are half a million objects, of which Python asks again and again, while they are loaded and when it ends, whether they
are needed still: some three seconds of a command, in which it finds next to nothing.
"""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

_usual: list[tuple[int, int, int]] = []  # how often garbage is looked for, while it is not


def end_without_looking() -> None:
    """Nor when this process ends, which gives everything back at once."""
    atexit.register(gc.freeze)


@contextmanager
def command_that_loads() -> Iterator[None]:
    """Around a command, not around a part of somebody's own program: nothing is looked for until all is loaded."""
    _usual.append(gc.get_threshold())
    gc.set_threshold(0)
    try:
        yield
    finally:
        all_is_loaded()
        gc.unfreeze()


def all_is_loaded() -> None:
    """From here on garbage is looked for as usual, but among what is new; nothing changes where no command loads."""
    while _usual:
        gc.freeze()
        gc.set_threshold(*_usual.pop())
