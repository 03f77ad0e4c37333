"""Ray for tests: small, and gone afterwards."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headscope.engines import Ray


def _start_lightly() -> None:
    """Spare each of Ray's own processes 2 s of CPU: it imports jsonschema, which compiles a large grammar at once, where the
    package of it is there, as it is beside a notebook."""
    folder = Path(tempfile.mkdtemp(prefix="headscope-light-"))
    (folder / "rfc3987_syntax.py").write_text("raise ImportError\n")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)


_start_lightly()


def small_ray(workers: int = 2, **more: Any) -> Ray:
    """Ray on this machine, whatever it has, with room for that many workers of a thread each."""
    return Ray(workers=workers, init={"num_cpus": workers, "object_store_memory": 100 * 2**20}, **more)


def files_of(run: Path) -> dict[str, bytes]:
    return {str(file.relative_to(run)): file.read_bytes() for file in sorted(run.rglob("*")) if file.is_file()}


def finished(run: Path) -> int:
    return len(list((run / "shards").glob("*.safetensors"))) if (run / "shards").is_dir() else 0


def wait_until(what: Callable[[], object], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)
