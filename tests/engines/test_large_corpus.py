"""Ten million short lines: shards are counted soon after the command is given, and the driver stays small."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import places
from tests.engines.clusters import finished, wait_until
from tests.engines.processes import descendants, kill
from tests.papers.samples import save_tiny

pytestmark = [pytest.mark.slow, pytest.mark.cluster, pytest.mark.xdist_group("ray")]

LINES = 10_000_000
AT_ONCE = 100_000


def peak(pid: int) -> float:
    """The most memory that a process has had, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM"))


def test_ten_million_lines(tmp_path: Path) -> None:
    corpus, run = tmp_path / "corpus.txt", tmp_path / "run"
    with corpus.open("w") as file:
        for first in range(0, LINES, AT_ONCE):
            file.write("".join(f"the cat {n} sat\n" for n in range(first, first + AT_ONCE)))
    model = save_tiny(tmp_path / "small")
    command = [sys.executable, "-m", "headscope", "study", model, corpus, "-s", "entropy", "-o", run]
    begun = time.monotonic()
    driver = subprocess.Popen(
        [*map(str, command), "--engine", "ray", "--workers", "2"], cwd=places.ROOT, stderr=subprocess.PIPE, text=True
    )
    try:
        wait_until(lambda: (run / "manifest.json").is_file() or driver.poll() is not None, 240)
        read = time.monotonic() - begun
        wait_until(lambda: finished(run) >= 1 or driver.poll() is not None, 240)
        first = time.monotonic() - begun
        wait_until(lambda: finished(run) >= 100 or driver.poll() is not None, 240)
        assert driver.poll() is None, driver.stderr and driver.stderr.read()
        used = peak(driver.pid)
    finally:
        kill([*descendants(driver.pid), driver.pid])
        driver.wait()
    print(f"read after {read:.1f} s, first shard after {first:.1f} s, driver {used:.0f} MB")
    assert used < 1000
    assert first < 120, "nearly all of it is Ray's start and its workers', on a busy machine"
