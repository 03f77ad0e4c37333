"""How kernels are compiled, and where what is made of them is kept."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config as numbas

from headscope.kernels import kept_in

settings: Any = numbas

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# Sums in any order, so that eight numbers are added at a time; a product and a sum are rounded once. Nothing is assumed of
# what is not a number: it stays so.
RULES = {"reassoc", "contract", "nsz", "arcp"}

# Kinds of arguments: numbers, and arrays of 1 to 4 dimensions without gaps.
WHOLE, REAL = "int64", "float64"
SINGLE = {count: f"float32[{':, ' * (count - 1)}::1]" for count in range(1, 5)}
DOUBLE, INTS, LONGS = (
    {count: of.replace("float32", kind) for count, of in SINGLE.items()} for kind in ("float64", "int32", "int64")
)


def compiled(*kinds: str) -> Callable[[Kernel], Kernel]:
    """The kernel, compiled, or as it was kept, for arguments of these kinds. It lets other threads run meanwhile.

    A function that only kernels call names no kinds: it becomes a part of them.
    """
    return partial(_compiled, kinds, RULES)


def exactly_compiled(*kinds: str) -> Callable[[Kernel], Kernel]:
    """The same, with every operation as it is written, but for a product and a sum that are rounded once."""
    return partial(_compiled, kinds, {"contract"})


def _compiled(kinds: tuple[str, ...], rules: set[str], kernel: Kernel) -> Kernel:
    place = _place()
    before, settings.CACHE_DIR = settings.CACHE_DIR, place
    try:
        made: Any = numba.njit(fastmath=rules, nogil=True, error_model="numpy", cache=bool(place))(kernel)
        if kinds:
            made.compile(f"({', '.join(kinds)},)")
        return made
    finally:
        settings.CACHE_DIR = before


@cache
def _place() -> str:
    """A folder for the kernels of these sources: numba looks at one file at a time, and a kernel is made of several.

    Nothing where nothing can be kept.
    """
    folder = kept_in()
    if folder is None:
        return ""
    sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    place = folder / hashlib.sha256(sources).hexdigest()[:16]
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        return ""
    return str(place) if os.access(place, os.W_OK) else ""
