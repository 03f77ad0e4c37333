"""The bundle in the package is what the sources in web/ make; these have no type errors, and their own tests pass."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import places
from tests.browser.conftest import WEB

ASSETS = places.ROOT / "src" / "headscope" / "views" / "assets"

pytestmark = pytest.mark.xdist_group("browser")


@pytest.mark.parametrize("name", ["headscope.js", "headscope.css", "LICENSES.txt"])
def test_the_bundle_is_current(modules: Path, tmp_path: Path, name: str) -> None:
    subprocess.run(["node", "build.mjs", "--outdir", str(tmp_path)], cwd=WEB, check=True, timeout=120)
    same = (tmp_path / name).read_bytes() == (ASSETS / name).read_bytes()
    assert same, f"{name} is not what web/ makes: run npm run build in web/ and commit it"


@pytest.mark.parametrize("script", ["check", "lint", "test"])
def test_the_sources_are_sound(modules: Path, script: str) -> None:
    """No type errors, no complaint of the linter, and the unit tests of the logic pass."""
    done = subprocess.run(["npm", "run", "--silent", script], cwd=WEB, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
