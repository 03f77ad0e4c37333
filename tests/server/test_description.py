"""The server against its own OpenAPI description: schemathesis asks a real one for everything, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import settings
from schemathesis.checks import not_a_server_error
from schemathesis.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from headscope.lens import Lens
from headscope.study.study import study
from headscope.text import Corpus

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture
def description(serving: Callable[..., tuple[str, Any]], lenses: dict[str, Lens], tmp_path: Path) -> Any:
    (tmp_path / "corpus.txt").write_text("the cat sat\ntwo dogs and a cat\n")
    study(lenses["bert"], Corpus.of(tmp_path / "corpus.txt"), ["entropy", "exemplars"], out=tmp_path / "run")
    address, _ = serving(lenses, tmp_path / "run")
    return schemathesis.openapi.from_url(f"{address}/api/openapi.json")


asked = schemathesis.pytest.from_fixture("description")


@asked.parametrize()
@settings(max_examples=20)
def test_no_answer_is_a_surprise(case: Any) -> None:
    case.call_and_validate(checks=CHECKS)


def test_what_is_described(serving: Callable[..., tuple[str, Any]], lenses: dict[str, Lens]) -> None:
    described = httpx.get(f"{serving(lenses)[0]}/api/openapi.json").json()
    assert list(described["paths"]) == [
        "/api/models",
        "/api/read",
        "/api/run",
        "/api/run/report",
        "/api/heads/{stack}/{kind}/{layer}/{head}/exemplars",
    ]
    for path, operations in described["paths"].items():
        for operation in operations.values():
            assert operation["description"], path
            assert set(operation["responses"]) >= {"200", "401", "403", "404", "413", "421", "422", "503"}
