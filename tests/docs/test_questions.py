"""Ten questions, answered by following the docs alone: each answer is checked, and its page says what it needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import places
from tests.docs.questions import QUESTIONS

CHECKS: dict[str, Callable[[Any], bool]] = {
    "What does every head look at in my sentence?": lambda shape: shape == (6, 12, 12, 12),
    "How much of the attention to [CLS] is real?": lambda shares: shares[0] > 0.5 and shares[1] < 0.15,
    "Which head looks at the next token, over a corpus?": lambda head: head == (1, 8),
    "Is my model read right?": lambda said: "ok" in said,
    "What happens without a head?": lambda moved: moved > 0.01,
    "How do I save a figure for a paper?": lambda bytes_: bytes_.startswith(b"%PDF"),
    "What has training changed?": lambda columns: "entropy_difference" in columns,
    "Which words make two texts alike?": lambda token: token == "key",
    "How do I count something of my own?": lambda tables: tables == ["self_most"],
    "My text is too long: what now?": lambda said: "--truncate" in said[0] and said[1] == 512,
}
NAMED = {
    "how-to/read-a-text.md": "reading.scores(measure)",
    "measures.md": 'scores("norm")',
    "statistics/where-it-looks.md": '"offsets", "previous", "next"',
    "how-to/doctor.md": "headscope doctor",
    "how-to/without-a-head.md": "lens.without(",
    "how-to/figure-for-a-paper.md": "headscope.attention_map(",
    "how-to/compare-checkpoints.md": ".compare(after",
    "how-to/ignored-sentence.md": "headscope.similarity(",
    "how-to/study.md": '@statistic("self_most")',
    "errors.md": "truncate=True",
}


def test_there_are_ten_with_an_answer_and_a_page_each() -> None:
    assert set(QUESTIONS) == set(CHECKS)
    assert len({page for page, _ in QUESTIONS.values()}) == 10
    for page, call in NAMED.items():
        assert call in (places.DOCS / page).read_text(encoding="utf-8"), f"{page} no longer says {call}"
    assert {page for page, _ in QUESTIONS.values()} == set(NAMED)


@pytest.mark.real
@pytest.mark.parametrize("asked", QUESTIONS)
def test_the_page_answers_it(asked: str, minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page, answer = QUESTIONS[asked]
    found = answer()
    assert CHECKS[asked](found), f"following {page}, {asked!r} was answered by {found!r}"
