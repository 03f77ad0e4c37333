"""Loops over maps, compiled for this processor: one sweep over what stays in its cache, where PyTorch would make several.

A kernel fills arrays that it is given, for the entries `first:last` of their leading dimension, so that threads can share
the work (`threads.py`). It takes CPU arrays of float32 and knows nothing of models or statistics. Who calls it has the same
in PyTorch's operations, for other devices and types of numbers: the tests hold the two together.

Numba compiles a kernel when it is called for the first time on a machine, in half a second, and keeps what it made. It is
imported with the kernels: name them by `Later`.
"""

import shutil
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from headscope.cache_folder import cache_folder


def load() -> None:
    """All kernels, ready to be called: before a process is copied, so that no copy has to do it for itself."""
    for found in iter_modules(__path__, f"{__name__}."):
        import_module(found.name)


def kept_in() -> Path | None:
    """The folder for what is compiled; None where nothing is kept."""
    cache = cache_folder()
    return None if cache is None else cache / "kernels"


def kept() -> int:
    """How many bytes compiled kernels take there, of this version of headscope and of others."""
    folder = kept_in()
    files = folder.rglob("*") if folder is not None else ()
    return sum(file.stat().st_size for file in files if file.is_file())


def clear() -> int:
    """Throw compiled kernels away: they are made again when they are called. Says how many bytes they took."""
    gone, folder = kept(), kept_in()
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
    return gone
