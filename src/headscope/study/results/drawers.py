"""Drawers: processes that do nothing but draw figures, beside the one that makes them.

A figure is drawn by one core. A process that has loaded matplotlib, and no model, is light, and starts while the model is
opened. It is sent pickled figures, and says of each whether it is drawn.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import IO, Any

from headscope.garbage import all_is_loaded, command_that_loads
from headscope.later import Figure
from headscope.study.results import figures

MOST = 2  # processes: the figures of a paper are few, and each process loads matplotlib for half a second
_PROCESS = "import sys; sys.path[:] = sys.argv[1:]; from headscope.study.results.drawers import process; process()"
_LIBRARIES = ("headscope.study.results.layout", "headscope.study.results.fonts", "matplotlib.backends.backend_pdf")


class Drawers:
    """So many processes that draw. With none, a figure is drawn here, when it is handed in."""

    def __init__(self, processes: int = 0) -> None:
        self.processes = processes
        self._free: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._started: list[subprocess.Popen[bytes]] = []
        self._threads: ThreadPoolExecutor | None = None  # one waits for each process
        self._handed_in: list[tuple[Future[bool], Figure, Path]] = []

    def begin(self) -> None:
        """Start them, so that they are ready when the first figure comes."""
        if self._threads is not None or not self.processes:
            return
        command = [sys.executable, "-c", _PROCESS, *sys.path]  # it finds what is found here, and no other random.py
        try:
            for _ in range(self.processes):
                # In a session of their own: an interrupted command lets them finish the figure that they draw.
                self._started.append(
                    subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
                )
        except OSError:  # no process can be started here
            self.close()
            return
        for process in self._started:
            self._free.put(process)
        self._threads = ThreadPoolExecutor(self.processes, thread_name_prefix="headscope-drawers")

    def save(self, made: Figure, stem: Path) -> None:
        """`stem.svg` and `stem.pdf`: they are there, whole, after `wait`. The figure is taken as it is now."""
        if self._threads is None:
            figures.save(made, stem)
        else:
            sent = pickle.dumps((made, stem), pickle.HIGHEST_PROTOCOL)
            self._handed_in.append((self._threads.submit(self._drawn, sent), made, stem))

    def wait(self) -> None:
        """Until all is drawn. What a process could not draw is drawn here, and says here what is wrong."""
        while self._handed_in:
            drawn, made, stem = self._handed_in.pop(0)
            if not drawn.result():
                figures.save(made, stem)

    def close(self) -> None:
        """Let them go. Whoever has not waited, because of an error, waits for the figures that are being drawn alone."""
        self._handed_in.clear()
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
            self._threads = None
        for process in self._started:
            process.communicate()
        self._started.clear()

    def __enter__(self) -> Drawers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _drawn(self, sent: bytes) -> bool:
        process = self._free.get()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(sent)
            process.stdin.flush()
            return bool(pickle.load(process.stdout))
        except (OSError, EOFError, pickle.UnpicklingError):  # it is lost
            return False
        finally:
            self._free.put(process)


def drawers_here() -> Drawers:
    """As many as this machine has cores for, and none where it has one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Drawers(min(cores, MOST) if cores > 1 and sys.executable else 0)


def process() -> None:
    """What a process does that draws."""
    # What is printed meanwhile must not come between the answers.
    answers: Any = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    sys.stdout = sys.stderr
    with command_that_loads():
        for library in _LIBRARIES:
            import_module(library)
        all_is_loaded()
        _draw_what_comes(sys.stdin.buffer, lambda drawn: answers.write(pickle.dumps(drawn)))


def _draw_what_comes(given: IO[bytes], answer: Callable[[bool], object]) -> None:
    """Until no more comes: whoever hands in figures has ended, or let go."""
    while True:
        try:
            made, stem = pickle.load(given)
        except EOFError:
            return
        try:
            figures.save(made, stem)
        except Exception:  # who has handed it in draws it again, and meets it
            answer(False)
        else:
            answer(True)
