"""What docs/how-to/what-heads-write.md tells people to paste works when pasted, with words that the planted model knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import places
from tests.planted_heads import planted_model, planted_tokenizer


def test_the_page_s_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = (places.DOCS / "how-to" / "what-heads-write.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    told = {"When John and Mary went out, John gave the bag to": "a b c a", '" Mary"': '"b"', '" John"': '"a"'}
    for words, ours in told.items():
        assert words in code
        code = code.replace(words, ours)
    planted_model().save_pretrained(tmp_path / "gpt2")
    planted_tokenizer().save_pretrained(tmp_path / "gpt2")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    out = capsys.readouterr().out
    assert "key_token" in out
    assert "copying" in out
    assert (tmp_path / "logits.svg").stat().st_size > 1000
