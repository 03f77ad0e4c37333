"""What docs/how-to/give-it-your-corpus.md tells people to paste works when pasted, and names every format."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headscope.text import FORMATS
from tests import places

PAGE = places.DOCS / "how-to" / "give-it-your-corpus.md"


def test_the_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "texts.txt").write_bytes(b"One text.\nA caf\xe9.\n")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    blocks[0] = blocks[0].replace('"texts.txt"', '"texts.txt", on_error="skip"', 1)
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    printed = capsys.readouterr().out
    assert printed.startswith("texts.txt:1 One text.\n1 read\n1 skipped\n  texts.txt, line 2: the line is not UTF-8")


def test_every_format_is_explained() -> None:
    table = PAGE.read_text(encoding="utf-8").split("## Formats")[1].split("## From Python")[0]
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE) == list(FORMATS)
