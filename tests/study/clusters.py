"""Ray for tests: small, and gone afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headscope.engines import Ray


def small_ray(workers: int = 2, **more: Any) -> Ray:
    """Ray on this machine, whatever it has, with room for that many workers of a thread each."""
    return Ray(workers=workers, init={"num_cpus": workers, "object_store_memory": 100 * 2**20}, **more)


def files_of(run: Path) -> dict[str, bytes]:
    return {str(file.relative_to(run)): file.read_bytes() for file in sorted(run.rglob("*")) if file.is_file()}
