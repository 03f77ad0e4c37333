"""The league on a real model: what a head adds ranks heads better than where it looks."""

from __future__ import annotations

from pathlib import Path

import headscope
from headscope.text import Corpus

TEXTS = [
    "The keys to the old cabinet are on the kitchen table.",
    "Nobody knew why the committee had changed its mind.",
    "She sold the house that her grandfather built in 1921.",
    "Rain is expected in the north, but the south stays dry.",
    "After the match, the players thanked everyone who had come.",
    "Most of the money was spent on repairs.",
]


def test_minilm(minilm: Path, tmp_path: Path) -> None:
    with headscope.open(minilm) as lens:
        run = headscope.league(lens, Corpus.of(TEXTS), how="mean", curves=False, tokens=4, out=tmp_path / "run")
    table = run["league"].query("effect == 'states'").set_index("number")
    assert len(run["league_heads"]) == 72
    assert table.loc["relative", "rho"] > 0.7
    assert table.loc["relative", "rho"] > abs(table.loc["entropy", "rho"]) + 0.2
    tokens = run["league_tokens"]
    together = tokens[tokens["layer"].isna() & (tokens["of"] == "head")].set_index("measure")
    assert together.loc["norm", "rho"] > 0.5
