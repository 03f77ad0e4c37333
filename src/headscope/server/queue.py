"""Queue: one run of a model at a time, off the event loop; a line of bounded length; and no work for those who left."""

import asyncio
import math
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any, TypeVar

from headscope.server.refusal import Refusal

Result = TypeVar("Result")
Check = Callable[[], None]
_FIRST_GUESS = 1.0  # seconds a job takes, before one has been seen
_LONGEST_WAIT = 60  # seconds that anybody is told to wait


class Abandoned(Exception):
    """Nobody waits for this job any more."""


class Queue:
    """Runs work in one thread, first come, first served."""

    def __init__(self, max_waiting: int) -> None:
        self.max_waiting = max_waiting
        self.seconds = _FIRST_GUESS  # that a job takes, lately
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="headscope-model")
        self._jobs: dict[threading.Event, asyncio.Task[object]] = {}  # in line or running, and who waits for each to leave
        self._stopped = False

    @property
    def waiting(self) -> int:
        """How many are in line, with the one that runs."""
        return len(self._jobs)

    async def run(self, work: Callable[[Check], Result], left: Callable[[], Coroutine[Any, Any, object]]) -> Result:
        """The result of `work`, which is dropped, or stopped at its next check, as soon as `left()` is done."""
        self._check_open()
        if self.waiting > self.max_waiting:
            wait = min(_LONGEST_WAIT, max(1, math.ceil(self.seconds * self.waiting)))
            sentence = f"The model is busy with {self.waiting} requests before this one: try again in {wait} s."
            raise Refusal(503, sentence, {"Retry-After": str(wait)})
        gone = threading.Event()  # nobody waits any more

        def check() -> None:  # from inside a model's forward pass, this stops it
            if gone.is_set():
                raise Abandoned

        def job() -> Result:
            check()
            begun = monotonic()
            result = work(check)
            self.seconds = 0.8 * self.seconds + 0.2 * (monotonic() - begun)
            return result

        leaving = self._jobs[gone] = asyncio.ensure_future(left())
        future = self._thread.submit(job)
        future.add_done_callback(lambda _: self._jobs.pop(gone, None))
        result = asyncio.wrap_future(future)
        try:
            await asyncio.wait((result, leaving), return_when=asyncio.FIRST_COMPLETED)
            self._check_open()
            if not result.done():
                raise Abandoned
            return result.result()
        finally:
            gone.set()
            leaving.cancel()
            if not result.cancel() and not result.cancelled():
                result.exception()  # is looked at, so that nobody complains that it was not

    def stop(self) -> None:
        """Stop what runs, drop what waits, and take no more; to be called where `run` is."""
        self._stopped = True
        for gone, leaving in list(self._jobs.items()):
            gone.set()
            leaving.cancel()

    def close(self) -> None:
        """Stop, and wait until the thread has ended."""
        self.stop()
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _check_open(self) -> None:
        if self._stopped:
            raise Refusal(503, "The server is being stopped: start it again, and ask again.", {"Retry-After": "10"})
