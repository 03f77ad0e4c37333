"""Where the treebank and the vectors are, with a skip that names what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import headscope
from headscope.probes import Vectors
from headscope.text import Document
from tests import places
from tests.probes.planted import documents


def _data(*parts: str) -> Path:
    path = places.DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not here: name the data folder with HEADSCOPE_DATA")
    return path


@pytest.fixture(scope="session")
def ewt() -> Path:
    return _data("treebank", "en_ewt-ud-dev.conllu")


@pytest.fixture(scope="session")
def glove() -> Path:
    return _data("vectors", "glove.6B.100d.first20k.txt")


@pytest.fixture(scope="session")
def minilm_lens(minilm: Path) -> Iterator[headscope.Lens]:
    with headscope.open(minilm) as lens:
        yield lens


@pytest.fixture
def sentences() -> list[Document]:
    return documents(60)


@pytest.fixture
def vectors() -> Vectors:
    words = ["the", "cat", "sat", "on", "mat", "a", "dog", "dogs", "end"]
    return Vectors(words, torch.randn(len(words), 5, generator=torch.Generator().manual_seed(3)))
