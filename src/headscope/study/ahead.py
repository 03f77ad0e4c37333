"""One item ahead: while someone works on what was made of an item, a thread makes the same of the next one."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def ahead(make: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
    """make(item) of every item, in their order. An error comes where it would have come without a thread: at its item.

    >>> list(ahead(str.upper, ["a", "b"]))
    ['A', 'B']
    """
    thread = ThreadPoolExecutor(1, thread_name_prefix="headscope-ahead")
    try:
        waiting: Future[Made] | None = None
        for item in items:
            following = thread.submit(make, item)
            if waiting is not None:
                yield waiting.result()
            waiting = following
        if waiting is not None:
            yield waiting.result()
    finally:
        # Whoever stops, by an error or Ctrl-C, does not wait for what nobody will ask for.
        thread.shutdown(wait=False, cancel_futures=True)
