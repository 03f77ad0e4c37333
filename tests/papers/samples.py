"""Small data for the papers' commands: a text, a treebank, mentions and vectors that the tiny tokenizers know."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from headscope.cli import main
from tests import places
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

TEXT = """ = Cats = 

The cat sat on the mat , the dog sat .

A dog and two dogs . The unbelievable end .

One cat , two dogs .

The mat sat on the dog , a cat sat .
"""

SENTENCE = """1\tthe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tcat\tcat\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tsat\tsit\tVERB\tVBD\t_\t0\troot\t_\t_
4\ton\ton\tADP\tIN\t_\t6\tcase\t_\t_
5\tthe\tthe\tDET\tDT\t_\t6\tdet\t_\t_
6\tunbelievable\tunbelievable\tNOUN\tNN\t_\t3\tobl\t_\t_
7\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_
"""
NOUNS = ("cat", "dog", "mat", "end")

COREFERENCE = """#begin document (one); part 000
one\t0\t0\tthe\tDT\t*\t-\t-\t-\t-\t*\t(1
one\t0\t1\tcat\tNN\t*\t-\t-\t-\t-\t*\t1)
one\t0\t2\tsat\tVBD\t*\t-\t-\t-\t-\t*\t-
one\t0\t3\ton\tIN\t*\t-\t-\t-\t-\t*\t-
one\t0\t4\ta\tDT\t*\t-\t-\t-\t-\t*\t(2
one\t0\t5\tdog\tNN\t*\t-\t-\t-\t-\t*\t2)
one\t0\t6\t.\t.\t*\t-\t-\t-\t-\t*\t-

one\t0\t0\tthe\tDT\t*\t-\t-\t-\t-\t*\t(1
one\t0\t1\tcat\tNN\t*\t-\t-\t-\t-\t*\t1)
one\t0\t2\tsat\tVBD\t*\t-\t-\t-\t-\t*\t-
one\t0\t3\ton\tIN\t*\t-\t-\t-\t-\t*\t-
one\t0\t4\tthe\tDT\t*\t-\t-\t-\t-\t*\t(2
one\t0\t5\tdog\tNN\t*\t-\t-\t-\t-\t*\t2)
one\t0\t6\t.\t.\t*\t-\t-\t-\t-\t*\t-

#end document
"""


def write_data(folder: Path) -> dict[str, Path]:
    """The files by the name of the option that takes them."""
    sentences = [
        SENTENCE.replace("1\tthe", f"1\t{article}").replace("2\tcat", f"2\t{one}").replace("6\tunbelievable", f"6\t{two}")
        for article in ("the", "a", "one", "two")
        for one in NOUNS
        for two in (*NOUNS, "unbelievable")
    ]
    files = {
        "text": ("text.txt", TEXT),
        "treebank": ("tree.conllu", "\n".join(sentences) + "\n"),
        "coreference": ("coref.conll", COREFERENCE),
        "vectors": (
            "glove.txt",
            "".join(f"{word} {index} 1 0.5\n" for index, word in enumerate(("the", "cat", "dog", "sat"))),
        ),
    }
    for name, text in files.values():
        (folder / name).write_text(text)
    return {option: folder / name for option, (name, _) in files.items()}


def save_tiny(folder: Path, family: str = "bert") -> Path:
    """A tiny saved model with its tokenizer."""
    tiny(family).save_pretrained(folder)
    tiny_tokenizer("wordpiece" if family == "bert" else "bpe").save_pretrained(folder)
    return folder


def run_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    monkeypatch.setattr(sys, "argv", ["headscope", *map(str, arguments)])
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main()
    captured = capsys.readouterr()
    return int(left.value.code or 0), captured.out, captured.err


def example(paper: str) -> str:
    """The Python code of a paper's page."""
    page = places.DOCS / "papers" / f"{paper}.md"
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return code
