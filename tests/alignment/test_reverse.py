"""The model of the other direction by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from headscope.alignment.reverse import reverse_of
from headscope.errors import InputError


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("Helsinki-NLP/opus-mt-fr-en", "Helsinki-NLP/opus-mt-en-fr"),
        ("Helsinki-NLP/opus-mt-tc-big-en-fr", "Helsinki-NLP/opus-mt-tc-big-fr-en"),
        ("Helsinki-NLP/opus-mt-en-pt_BR", "Helsinki-NLP/opus-mt-pt_BR-en"),
        ("opus-mt-de-en", "opus-mt-en-de"),
    ],
)
def test_names(model: str, expected: str) -> None:
    assert reverse_of(model) == expected
    assert reverse_of(expected) == model


def test_folders(tmp_path: Path) -> None:
    (tmp_path / "opus-mt-fr-en").mkdir()
    with pytest.raises(InputError, match=r"no opus-mt-en-fr beside .*opus-mt-fr-en: give --reverse MODEL"):
        reverse_of(str(tmp_path / "opus-mt-fr-en"))
    (tmp_path / "opus-mt-en-fr").mkdir()
    assert reverse_of(f"{tmp_path}/opus-mt-fr-en/") == f"{tmp_path}/opus-mt-en-fr"


@pytest.mark.parametrize("model", ["facebook/m2m100_418M", "opus-mt-fr", "t5-small", "opus-mt-en-fr-de"])
def test_names_that_do_not_tell(model: str) -> None:
    with pytest.raises(InputError, match="give --reverse MODEL"):
        reverse_of(model)
