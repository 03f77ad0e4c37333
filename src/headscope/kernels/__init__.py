"""Loops over maps, compiled for this processor: one sweep over what stays in its cache, where PyTorch would make several.

A kernel fills arrays that it is given, for the entries `first:last` of their leading dimension, so that threads can share
the work (`threads.py`). It takes CPU arrays of float32 and knows nothing of models or statistics. Who calls it has the same
in PyTorch's operations, for other devices and types of numbers: the tests hold the two together.

Numba compiles a kernel when it is called for the first time on a machine, in a second or two, and keeps what it made. It is
imported with the kernels: name them by `Later`.
"""

from importlib import import_module
from pkgutil import iter_modules


def load() -> None:
    """All kernels, ready to be called: before a process is copied, so that no copy has to do it for itself."""
    for found in iter_modules(__path__, f"{__name__}."):
        import_module(found.name)
