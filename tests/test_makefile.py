"""The Makefile finds a Python from 3.11 on, whatever it is called, and says so where there is none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import places

MAKE = shutil.which("make")
pytestmark = pytest.mark.skipif(MAKE is None, reason="make is not installed")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The only folder on the path, without a Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def put(path: Path, name: str, *, version: str = "") -> None:
    """A real Python under a name; with `version`, one that is older than ours, as its own check will find."""
    older = f"import sys; sys.version_info = ({version}); exec(sys.argv.pop(1))"
    run = f'exec {sys.executable} -c "{older}" "$2"' if version else f'exec {sys.executable} "$@"'
    (path / name).write_text(f"#!/bin/sh\n{run}\n")
    (path / name).chmod(0o755)


def made(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(MAKE), "-s", "-f", str(places.ROOT / "Makefile"), *arguments]
    return subprocess.run(command, env={"PATH": str(path)}, capture_output=True, text=True, cwd=path)


def found(path: Path, *arguments: str) -> str:
    return made(path, "--eval", "which: ; $(info $(PYTHON))", "which", *arguments).stdout.strip()


def test_any_name_will_do_and_the_nearest_to_what_was_tested_comes_first(path: Path) -> None:
    assert found(path) == ""
    put(path, "python3", version="3, 9")
    assert found(path) == ""
    put(path, "python3.14")
    assert found(path) == "python3.14"
    put(path, "python3.12")
    assert found(path) == "python3.12"
    put(path, "python3.11")
    assert found(path) == "python3.11"
    assert found(path, "PYTHON=python3.14") == "python3.14"


def test_python3_alone_is_enough_when_it_is_new(path: Path) -> None:
    put(path, "python3")
    assert found(path) == "python3"


@pytest.mark.parametrize(("given", "said"), [((), "There is no Python"), (("PYTHON=python3",), "python3 is no Python")])
def test_no_python_is_one_sentence(path: Path, given: tuple[str, ...], said: str) -> None:
    put(path, "python3", version="3, 10")
    done = made(path, *given, f"VENV={path / 'venv'}", str(path / "venv" / "bin" / "python"))
    assert done.returncode == 2
    assert f"{said} from 3.11 on" in done.stderr
    assert "make PYTHON=/path/to/python" in done.stderr
    assert not (path / "venv").exists()


def test_the_environment_is_made_with_it(path: Path) -> None:
    put(path, "python3.13")
    done = made(path, f"VENV={path / 'venv'}", str(path / "venv" / "bin" / "python"), "--dry-run")
    assert f"python3.13 -m venv {path / 'venv'}" in done.stdout
