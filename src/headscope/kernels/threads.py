"""A kernel's work shared by as many threads as PyTorch has: they run at once, and write into different entries."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

from headscope.later import Tensor, torch

LEAST = 200_000  # numbers for each thread: to wake one takes as long as some ten thousand


def on_cpu(*tensors: Tensor) -> bool:
    """Whether a kernel can take them: float32 on a CPU, with no gradients to follow, and not empty."""
    return all(
        one.device.type == "cpu" and one.dtype == torch.float32 and not one.requires_grad and one.numel() > 0
        for one in tensors
    )


def shared(kernel: Callable[..., None], entries: int, numbers: int, *given: Any) -> None:
    """kernel(first, last, *given) for all of the entries 0 ... entries - 1, which have so many numbers together."""
    threads = max(1, min(torch.get_num_threads(), entries, numbers // LEAST))
    if threads == 1:
        kernel(0, entries, *given)
        return
    ends = [entries * place // threads for place in range(threads + 1)]
    others = [_pool().submit(kernel, first, last, *given) for first, last in pairwise(ends[1:])]
    kernel(0, ends[1], *given)
    for other in others:
        other.result()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), thread_name_prefix="headscope-kernel")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads are not there in a copy of the process
