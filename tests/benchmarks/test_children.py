"""Whoever kills the benchmarks leaves nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

PARENT = """
import sys
from benchmarks.memory import in_fresh_process
from tests.benchmarks.test_children import say_and_sleep
if __name__ == "__main__":
    in_fresh_process(say_and_sleep, sys.argv[1])
"""


def say_and_sleep(path: str) -> None:
    """What the child does: say who it is, and go on for longer than anybody waits."""
    unfinished = Path(f"{path}.unfinished")
    unfinished.write_text(str(os.getpid()))
    unfinished.rename(path)
    time.sleep(300)


def is_running(process: int) -> bool:
    status = Path(f"/proc/{process}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="it is Linux's kernel that ends them")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_children_end_with_their_parent(tmp_path: Path, how: signal.Signals) -> None:
    script, said = tmp_path / "parent.py", tmp_path / "child"
    script.write_text(PARENT)
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, str(script), str(said)], env=surroundings, cwd=Path(__file__).parents[2])
    try:
        assert _soon(said.exists), "the child did not begin"
        child = int(said.read_text())
        assert is_running(child)
        parent.send_signal(how)
        parent.wait()
        assert _soon(lambda: not is_running(child)), "the child goes on without its parent"
    finally:
        parent.kill()


def _soon(holds: Callable[[], bool]) -> bool:
    for _ in range(600):
        if holds():
            return True
        time.sleep(0.1)
    return False
