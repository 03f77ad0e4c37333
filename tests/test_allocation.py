"""What a command lets go of is there for what comes next, without the system's help."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from headscope.allocation import KEPT, LARGEST

# As at the layers of a model: a few blocks at once, megabytes each, and all let go again.
ROUNDS = """
import resource
from headscope.allocation import keep_freed_memory
if {keep}:
    assert keep_freed_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def layers(count):
    for _ in range(count):
        blocks = [b"x" * (8 << 20) for _ in range(4)]
        del blocks
layers(2)
before = faults()
layers(5)
print(faults() - before)
"""


def faults(keep: bool) -> int:
    done = subprocess.run([sys.executable, "-c", ROUNDS.format(keep=keep)], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is asked")
def test_pages_are_made_once() -> None:
    pages = 5 * 4 * (8 << 20) // 4096
    assert faults(keep=False) > pages / 4, "if the system's own way has become as good, ours may go"
    assert faults(keep=True) < pages / 100


def test_what_is_kept_is_bounded() -> None:
    assert LARGEST <= KEPT <= 1 << 28
