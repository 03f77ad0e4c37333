"""The server against its own OpenAPI description: schemathesis asks a real one for everything, right and wrong."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from headscope.lens import Lens
from headscope.study.study import study
from headscope.text import Corpus

Serving = Callable[..., tuple[str, Any]]
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance"]


@pytest.mark.slow
def test_no_answer_is_a_surprise(serving: Serving, lenses: dict[str, Lens], tmp_path: Path) -> None:
    """No 5xx, no status and no answer that the description does not have."""
    (tmp_path / "corpus.txt").write_text("the cat sat\ntwo dogs and a cat\n")
    study(lenses["bert"], Corpus.of(tmp_path / "corpus.txt"), ["entropy", "exemplars"], out=tmp_path / "run")
    address, _ = serving(lenses, tmp_path / "run")
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{address}/api/openapi.json", "--no-color"]
    options = ["--checks", ",".join(CHECKS), "--max-examples", "10", "--seed", "1", "--generation-database", "none"]
    done = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    assert "Tested: 7" in done.stdout
    print(done.stdout)


def test_what_is_described(serving: Serving, lenses: dict[str, Lens]) -> None:
    described = httpx2.get(f"{serving(lenses)[0]}/api/openapi.json").json()
    assert list(described["paths"]) == [
        "/api/models",
        "/api/read",
        "/api/difference",
        "/api/predict",
        "/api/run",
        "/api/run/report",
        "/api/heads/{stack}/{kind}/{layer}/{head}/exemplars",
    ]
    for path, operations in described["paths"].items():
        for operation in operations.values():
            assert operation["description"], path
            assert set(operation["responses"]) >= {"200", "401", "403", "404", "413", "421", "422", "503"}
    asked = described["components"]["schemas"]["ReadRequest"]["properties"]
    assert asked["model"]["enum"] == ["bert", "fr-en"]
    assert described["components"]["schemas"]["PredictRequest"]["properties"]["model"]["enum"] == ["bert", "fr-en"]
    assert "norm" in asked["measures"]["anyOf"][0]["items"]["enum"]
