"""Each run is made once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.report.samples import RUNS


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def run(name: str) -> Path:
        if name not in made:
            folder = tmp_path_factory.mktemp(name) / "run"
            RUNS[name](folder)
            made[name] = folder
        return made[name]

    return run
