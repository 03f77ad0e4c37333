"""Ray for tests: small, without a dashboard, and gone afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

MEMORY = 100 * 2**20  # bytes of Ray's object store


@contextmanager
def small_ray(cpus: int) -> Iterator[None]:
    import ray

    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "error"}
    ray.init("local", num_cpus=cpus, object_store_memory=MEMORY, **quiet)
    try:
        yield
    finally:
        ray.shutdown()


def files_of(run: Path) -> dict[str, bytes]:
    return {str(file.relative_to(run)): file.read_bytes() for file in sorted(run.rglob("*")) if file.is_file()}
