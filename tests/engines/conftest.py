"""A model, a corpus, the run that both come to without faults, and drivers that end with their test."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import headscope
from headscope.lens import ModelSource
from tests import places
from tests.engines.clusters import files_of
from tests.engines.driver import SHARD, TEXTS
from tests.engines.planted import Slowly
from tests.engines.processes import descendants, kill
from tests.papers.samples import save_tiny


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "small")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "corpus.txt"
    path.write_text("\n".join(TEXTS))
    return path


@pytest.fixture(scope="module")
def whole(model: Path, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The run as it is without Ray and without faults; sleeping changes no number."""
    out = tmp_path_factory.mktemp("whole") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", lambda seconds: None)
        headscope.study(ModelSource(str(model)), corpus, [Slowly()], out=out, shard_size=SHARD)
    return files_of(out)


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Drivers that end with the test, with all that they have started."""
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.engines.driver", *map(str, arguments)]
        started.append(subprocess.Popen(command, cwd=places.ROOT, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield begin
    for process in started:
        kill([*descendants(process.pid), process.pid] if process.poll() is None else [])
        process.wait()
