"""Processes as /proc has them: who was started by whom, and what they call themselves."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path


def descendants(pid: int) -> list[int]:
    """All that a process has started, and what they have."""
    parents = {int(entry.name): _parent(entry) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def called(pids: list[int], name: str) -> list[int]:
    """Those of them whose command begins so: Ray names its workers after what they run."""
    return [pid for pid in pids if _command(pid).startswith(name)]


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if _command(pid)]


def kill(pids: list[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _command(pid: int) -> str:
    """Nothing for one that is dead, or waits to be buried."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
