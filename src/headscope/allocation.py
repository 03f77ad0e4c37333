"""Memory that is let go stays with the process: the next layer needs as much of it again.

A pass makes and lets go of tens of megabytes at every layer. The C library of Linux gives them back to the system each time,
which makes and zeroes the pages of the next ones one by one: a tenth of a pass's time, and more of one with many statistics.
"""

import ctypes
import sys

# Of glibc's malloc.h; other C libraries have no such function.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3

LARGEST = 32 << 20  # bytes: what is larger is given back at once
KEPT = 256 << 20  # bytes at the end of the heap that are kept; what is more is given back


def keep_freed_memory() -> bool:
    """Ask the C library for it, for the whole process: a command's, not that of whoever imports us. Whether it will."""
    if sys.platform != "linux":
        return False
    ask = getattr(ctypes.CDLL(None), "mallopt", None)
    return ask is not None and bool(ask(_MMAP_THRESHOLD, LARGEST)) and bool(ask(_TRIM_THRESHOLD, KEPT))
