"""Processes that end with whoever started them, however that ends."""

import ctypes
import signal
import sys

_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux's prctl.h


def end_with_parent() -> None:
    """To be called first of all in a process that was started: the kernel kills it when whoever started it is gone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
