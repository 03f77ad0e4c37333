"""Tables for papers compile, whatever the tokens in them are."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from headscope.study.results.printing import latex
from tests.latex import ENGINES, compile_tables

TOKENS = [
    "[SEP]", "[CLS] [SEP]", "*", "**", "*x", "**bold** *italic* ***both***", "[1cm]", "[", "]", " [x]", "{", "}", "\\",
    "\\\\", "\\n", "%", "&", "#", "##ing", "_", "nmod_poss", "$", "$x$", "~", "^", "^^M", "<s>", "</s>", "<|endoftext|>",
    "|", '"', "`", "``", "''", "'", "--", "---", ",,", "?`", "!`", "@-@", "-0.5", "-", "", "Ġthe", "Ċ", "▁the", "café", "ą",
    "đ", "ß", "ſ", "Ħ", "«»", "—", "…", "€", "™", "α", "β", "∂", "→", "中文", "日本", "한국", "Привет", "שלום", "مرحبا",
    "😀", "👩‍💻", "\u200b", "\ufeff", "\ufffd", "\u00ad", "\x00", "\x07", "\x7f", "\x85", "\n", "a\nb", "\t",
]  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_every_token_compiles(engine: str, tmp_path: Path) -> None:
    """At the beginning of a row, at its end, and in the header, where rules and line ends look at what follows."""
    rows = pd.DataFrame({"token": TOKENS, "share": [0.5] * len(TOKENS), "again": TOKENS})
    headers = [latex(pd.DataFrame([[0.5, 1]], columns=[token, "x"])) for token in TOKENS]
    compile_tables([latex(rows), *headers], tmp_path, engine)


def test_what_is_printed_is_the_token(tmp_path: Path) -> None:
    """By hand: a row's bracket is text, no length; marks of Markdown are LaTeX's; numbers have a minus."""
    table = latex(pd.DataFrame({"token": ["[SEP]", "a*", "**them** and *it*", "中"], "rho": [-0.5, 1, 2, 3]}))
    assert table.splitlines()[0].startswith(r"\providecommand{\unicodecharacter}")
    assert table.splitlines()[5:9] == [
        r"{}[SEP] & $-$0.5 \\",
        r"a* & 1 \\",
        r"\textbf{them} and \textit{it} & 2 \\",
        r"\unicodecharacter{4E2D}{中} & 3 \\",
    ]
    assert "providecommand" not in latex(pd.DataFrame({"token": ["[SEP]"]}))  # only where it is used


def test_a_row_that_begins_with_a_bracket_did_not_compile(tmp_path: Path) -> None:
    """The test's own test: LaTeX refuses what the guard is against."""
    table = latex(pd.DataFrame({"token": ["a", "[SEP]"]}))
    with pytest.raises(AssertionError, match="Missing number"):
        compile_tables([table.replace("{}[SEP]", "[SEP]")], tmp_path)
