"""The site of the documentation: the long table of architectures has a filter, and is whole without scripts."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import places

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def architectures(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("site")
    settings = (places.ROOT / "zensical.toml").read_text(encoding="utf-8")
    (folder / "zensical.toml").write_text(settings.replace("out/site", "site"), encoding="utf-8")
    shutil.copytree(places.DOCS, folder / "docs")
    build = [str(Path(sys.executable).with_name("zensical")), "build"]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    return (folder / "site" / "architectures.html").as_uri()


def seen(page: Any) -> list[str]:
    rows = page.locator("article table:has-text('bfloat16') tbody tr:visible td:first-child")
    return list(rows.all_inner_texts())


def test_architectures_are_found_by_typing(browser: Any, architectures: str) -> None:
    page = browser.new_page()
    page.goto(architectures)
    boxes = page.get_by_label("Filter the rows of this table")
    everything = seen(page)
    assert len(everything) > 200
    boxes.first.fill("LLAMA ok")
    found = seen(page)
    assert "llama" in found
    assert found == [name for name in everything if name in found]
    assert 0 < len(found) < 20
    assert f"{len(found)} of {len(everything)} rows" in page.locator(".filter output").first.inner_text()
    boxes.first.fill("")
    assert seen(page) == everything
    page.close()


def test_without_scripts_the_table_is_whole(browser: Any, architectures: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(architectures)
    assert page.locator(".filter").count() == 0
    assert len(seen(page)) > 200
    context.close()
