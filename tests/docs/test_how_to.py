"""How-to pages by task: their blocks run one after another on a real model, and print what the page says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs import pages

TREEBANK = "".join(
    f"{number}\t{word}\t{word}\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n"
    for number, (word, tag, head, relation) in enumerate(
        [
            ("The", "DET", 3, "det"),
            ("old", "ADJ", 3, "amod"),
            ("man", "NOUN", 4, "nsubj"),
            ("saw", "VERB", 0, "root"),
            ("a", "DET", 6, "det"),
            ("dog", "NOUN", 4, "obj"),
            (".", "PUNCT", 4, "punct"),
        ],
        1,
    )
)
PRINTED = {
    "syntax": ["dependent to head", "det", "held_out"],
    "ignored-sentence": [
        "14 tokens of at most",
        "similarity 0.52: 0.06 from the first sentence, 0.45 from the second",
        "weight [",
    ],
    "compare-checkpoints": ["entropy_difference"],
    "long-prompt": ["distance", "torch.Size([12, "],
    "figure-for-a-paper": [],
}
WRITTEN = {
    "ignored-sentence": ["difference.html"],
    "compare-checkpoints": ["checkpoints.html"],
    "figure-for-a-paper": ["head.pdf", "matrix.pdf", "all-heads.svg"],
}


@pytest.mark.real
@pytest.mark.parametrize("name", PRINTED)
def test_it_works_when_pasted(
    name: str, minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("treebank.conllu").write_text(f"{TREEBANK}\n{TREEBANK.replace('old', 'young')}\n")
    given: dict[str, object] = {}
    for code in pages.blocks(f"how-to/{name}.md", "python"):
        exec(code, given)
    printed = capsys.readouterr().out
    assert [one for one in PRINTED[name] if one not in printed] == [], printed
    assert all(Path(file).stat().st_size > 1000 for file in WRITTEN.get(name, ()))
