"""The page about the house names files: each is there."""

from __future__ import annotations

import re

from tests import places

PAGE = places.DOCS / "architecture.md"
SOURCE = places.ROOT / "src" / "headscope"


def test_every_file_on_the_page_is_there() -> None:
    named = set(re.findall(r"[\w/*]+\.py", PAGE.read_text(encoding="utf-8"))) - {
        "tests/test_layers.py",
        "tests/test_start.py",
    }
    assert len(named) > 60
    # A file is named by the end of its path, as in tokens/encoder.py.
    missing = [name for name in named if not any(SOURCE.glob(name)) and not any(SOURCE.glob(f"**/{name}"))]
    assert not missing
