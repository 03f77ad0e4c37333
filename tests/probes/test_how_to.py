"""What docs/how-to/probe-attention.md tells people to paste works when pasted."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

import headscope
from headscope.probes import PROBES
from headscope.text import Document
from tests import places
from tests.probes.planted import WORDS, documents
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

PAGE = places.DOCS / "how-to" / "probe-attention.md"


def conllu(sentences: list[Document]) -> str:
    blocks = []
    for document in sentences:
        columns = zip(document.words or (), document.parents or (), document.relations or (), strict=True)
        rows = [
            f"{place}\t{word}\t_\t_\t_\t_\t{head + 1}\t{relation}\t_\t_"
            for place, (word, head, relation) in enumerate(columns, 1)
        ]
        blocks.append("\n".join(rows) + "\n")
    return "\n".join(blocks) + "\n"


def test_the_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.conllu").write_text(conllu(documents(80)))
    (tmp_path / "dev.conllu").write_text(conllu(documents(20, seed=1)))
    vectors = "".join(f"{word} {place} {place % 3} -1.5\n" for place, word in enumerate(WORDS))
    (tmp_path / "glove.6B.100d.txt").write_text(vectors)
    (tmp_path / "glove.6B.100d.txt.gz").write_bytes(gzip.compress(vectors.encode()))
    monkeypatch.chdir(tmp_path)
    opened = headscope.open
    monkeypatch.setattr(headscope, "open", lambda name: opened(tiny("bert"), tiny_tokenizer("wordpiece")))
    names: dict[str, object] = {}
    tables = []
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
        tables.append(names["table"])
    assert list(tables[0]["name"]) == list(PROBES)
    assert list(tables[1]["name"]) == ["attention", "attention_words"]
    assert "torch.return_types.topk" in capsys.readouterr().out


def test_every_probe_is_explained() -> None:
    assert re.findall(r"^\| `(\w+)` \| [^0-9]", PAGE.read_text(encoding="utf-8"), re.MULTILINE) == list(PROBES)
