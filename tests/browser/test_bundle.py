"""The bundle in the package is what the sources in web/ make; these have no type errors, and their own tests pass."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests import places
from tests.browser.conftest import missing

ROOT = places.ROOT
WEB, ASSETS = ROOT / "web", ROOT / "src" / "headscope" / "views" / "assets"

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def modules() -> Path:
    """web/node_modules, as package-lock.json says."""
    if shutil.which("npm") is None:
        missing("npm is not installed, so nobody can say whether the bundle is current")
    installed, lock = WEB / "node_modules" / ".package-lock.json", WEB / "package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime:
        done = subprocess.run(
            ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
            cwd=WEB,
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode:
            missing(f"npm ci failed, so nobody can say whether the bundle is current: {done.stderr[-300:]}")
    return WEB / "node_modules"


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
