"""A kernel's work shared by as many threads as PyTorch has: they run at once, and write into different entries."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from headscope.later import Tensor, torch

HERE = frozenset({"cpu"})  # kinds of device whose numbers can be looked at without waiting for them
LEAST = 200_000  # numbers for each thread: to wake one takes as long as some ten thousand

Part = Callable[[int, int], None]  # does a thread's part of the work: the how-manieth it is, of how many


def on_cpu(*tensors: Tensor) -> bool:
    """Whether a kernel can take them: float32 on a CPU, with no gradients to follow, and not empty."""
    return all(
        one.device.type in HERE and one.dtype == torch.float32 and not one.requires_grad and one.numel() > 0
        for one in tensors
    )


def shared(kernel: Callable[..., None], entries: int, numbers: int, *given: Any) -> None:
    """kernel(first, last, *given) for all of the entries 0 ... entries - 1, which have so many numbers together."""
    threads = max(1, min(torch.get_num_threads(), entries, numbers // LEAST))

    def part(place: int, of: int) -> None:
        kernel(entries * place // of, entries * (place + 1) // of, *given)

    if threads == 1:
        part(0, 1)
    elif openmp() is None:
        by_pool(part, threads)
    else:
        by_openmp(part, threads)


def by_openmp(part: Part, threads: int) -> None:
    """By the threads that PyTorch's own operations run in.

    They wait for more work for some milliseconds after each operation, and keep their cores busy meanwhile: threads of ours
    beside them would take twice as long.
    """
    library, mistakes = openmp(), list[BaseException]()

    def run(_: Any) -> None:
        try:
            part(library.omp_get_thread_num(), library.omp_get_num_threads())
        except BaseException as mistake:  # nobody is above who would see it
            mistakes.append(mistake)

    library.GOMP_parallel(_CALLED(run), None, threads, 0)
    if mistakes:
        raise mistakes[0]


def by_pool(part: Part, threads: int) -> None:
    """By threads of ours, where PyTorch's cannot be asked."""
    others = [_pool().submit(part, place, threads) for place in range(1, threads)]
    part(0, threads)
    for other in others:
        other.result()


_CALLED = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@cache
def openmp() -> Any:
    """PyTorch's OpenMP, where it has the doors of GNU's; else None."""
    torch.get_num_threads()  # it is loaded with PyTorch, for everybody in this process
    try:
        library = ctypes.CDLL(None)
        library.GOMP_parallel.argtypes = [_CALLED, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
        library.GOMP_parallel.restype = None
        library.omp_get_thread_num, library.omp_get_num_threads  # noqa: B018 - an AttributeError where there is none
    except (AttributeError, OSError, TypeError):
        return None
    return library


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), thread_name_prefix="headscope-kernel")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads are not there in a copy of the process
