"""Where the corpora are, with a skip that names what is missing, and a way to write a small file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import places


@pytest.fixture(scope="session")
def data() -> Path:
    folder = places.DATA
    if not folder.is_dir():
        pytest.skip(f"the data folder {folder} is not here: name it with HEADSCOPE_DATA")
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write_file(content: str | bytes, name: str = "corpus") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file
