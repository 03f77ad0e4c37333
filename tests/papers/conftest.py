"""The small data that every paper's tests read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.papers.samples import write_data


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_data(tmp_path_factory.mktemp("data"))
