"""What plain lines say of a long run, where no terminal is for a bar: how far, how fast, how long yet, who works."""

from __future__ import annotations

import time

import pytest

from headscope.progress import EVERY, Bar


def test_plain_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with Bar().part("text") as bar:
        bar.begin(10_000, 4_000)
        bar.by("3 of 4 workers")
        now[0] += EVERY + 1
        bar.advance(110)
        bar.by("4 workers")
        now[0] += 1
        bar.advance(10)  # too soon for another line
        now[0] += EVERY
        bar.advance(100)
        bar.advance(5_780)
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("text: ")]
    assert lines == [
        "text: 4,110 of 10,000 documents, 10.0 a second, 10 min left, 3 of 4 workers",
        "text: 4,220 of 10,000 documents, 10.0 a second, 10 min left, 4 workers",
        "text: 10,000 of 10,000 documents, 4 workers",
    ]
