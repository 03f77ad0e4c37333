"""From a function that calls back to an iterator: the two take turns, so that nothing piles up between them."""

import queue
import threading
from collections.abc import Callable, Iterator

from headscope.lens.block import AttentionBlock


def blocks_of(run: Callable[[Callable[[AttentionBlock], None]], None]) -> Iterator[AttentionBlock]:
    """Turn a function that calls back into an iterator: it runs in a thread that waits while the caller works."""
    handed: queue.SimpleQueue[AttentionBlock | BaseException | None] = queue.SimpleQueue()
    go_on: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def receive(block: AttentionBlock) -> None:
        handed.put(block)
        if not go_on.get():
            raise GeneratorExit

    def work() -> None:
        try:
            run(receive)
            handed.put(None)
        except GeneratorExit:
            pass
        except BaseException as error:  # handed to the caller's thread, which raises it
            handed.put(error)

    thread = threading.Thread(target=work, name="headscope-stream", daemon=True)
    thread.start()
    waiting = False
    try:
        while (item := handed.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            waiting = True
            yield item
            waiting = False
            go_on.put(True)
    finally:
        if waiting:
            go_on.put(False)
        thread.join()
