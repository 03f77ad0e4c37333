"""What the README and the docs tell people to paste works when pasted."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import headscope
from headscope.measures import MEASURES
from headscope.report.heads.cards import card_numbers
from headscope.statistics import STATISTICS, Entropy
from headscope.statistics.columns import column_title
from tests import places
from tests.papers.samples import save_tiny
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

ROOT = places.ROOT


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.real
def test_readme_example(minilm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("README.md", "python")
    exec(code, {})
    assert "[CLS] gets 47% of the weight, 5% of the norm" in capsys.readouterr().out


def test_readme_names_both_commands() -> None:
    assert [line.split("#")[0].strip() for line in blocks("README.md", "sh")[0].splitlines()] == ["make demo", "make test"]


def said(code: str, *arguments: str) -> str:
    """What a command prints once the code has run: it stands in a file of its own, outside the package."""
    plain = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    script = f"{code}\n\nimport sys\nfrom headscope.cli import main\nsys.argv = ['headscope', *{list(arguments)}]\nmain()\n"
    done = subprocess.run([sys.executable, "-c", script], env=plain, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_running_without_a_head() -> None:
    tokenizer = tiny_tokenizer("bpe")
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token or "a"
    with headscope.open(tiny("llama", num_hidden_layers=5), tokenizer) as lens:
        for code in blocks("docs/how-to/without-a-head.md", "python"):
            exec(code, {"lens": lens, "texts": ["the cat sat", "a dog"]})


def test_ablating() -> None:
    with headscope.open(tiny("llama"), tiny_tokenizer("bpe")) as lens:
        for code in blocks("docs/how-to/ablate.md", "python"):
            exec(code, {"lens": lens, "headscope": headscope})


def test_the_league() -> None:
    with headscope.open(tiny("llama"), tiny_tokenizer("bpe")) as lens:
        for code in blocks("docs/how-to/league.md", "python"):
            exec(code, {"lens": lens, "headscope": headscope})


def test_a_model_as_it_is_held() -> None:
    from transformers import pipeline

    held = pipeline("feature-extraction", model=tiny("bert"), tokenizer=tiny_tokenizer("wordpiece"))
    for code in blocks("docs/how-to/your-model.md", "python"):
        exec(code, {"held": held})


def test_adding_a_measure() -> None:
    (code,) = blocks("docs/how-to/add-a-measure.md", "python")
    try:
        exec(code, {})
        with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
            reading = lens.read("the cat")
            assert (reading.scores("squared") == reading.scores("weight") ** 2).all()
            page = headscope.head_view(reading, measures=["squared"])._repr_html_()
            assert "weight squared" in html.unescape(page)
            assert Entropy(measure="squared").table_name == "entropy_squared"
            assert column_title("entropy_squared", "entropy") == "Breadth of attention (entropy), by squared"
    finally:
        MEASURES.pop("squared", None)
    assert "squared" in said(code, "read", "--help")


def test_adding_a_statistic() -> None:
    code = blocks("docs/how-to/study.md", "python")[1]
    try:
        exec(code, {})
        with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
            run = headscope.study(lens, ["the cat sat", "a dog"], ["self_most", STATISTICS["self_most"](level="word")])
        assert set(run) == {"self_most", "self_most_words"}
        assert run["self_most"]["self_most"].between(0, 1).all()
        assert column_title("self_most_words", "self_most") == "Looks at itself most, in words"
        assert "self_most.self_most" in card_numbers(run)
    finally:
        STATISTICS.pop("self_most", None)
    assert "Share of the rows whose largest score is on the row's own token." in said(code, "study", "--list")


@pytest.mark.real
def test_looking_at_a_text(minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for code in blocks("docs/how-to/look-at-a-text.md", "python"):
        exec(code, {})
    written = ["difference.html", "difference.pdf", "own.html", "view.html", "view.svg"]
    assert sorted(path.name for path in tmp_path.iterdir()) == written


def test_links_in_the_docs_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


def test_the_site_is_built_without_a_warning_and_asks_nobody(tmp_path: Path) -> None:
    """Of the tree as it is: zensical looks for every page, anchor and picture that a page names."""
    settings = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    (tmp_path / "zensical.toml").write_text(settings.replace("out/site", "site"), encoding="utf-8")
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    build = [str(Path(sys.executable).with_name("zensical")), "build", "--strict"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > len(list((ROOT / "docs").rglob("*.md")))  # and one for what is not there
    for page in pages:
        loaded = re.findall(r"""<(?:script|img|link|iframe)[^>]+(?:src|href)=["']?(https?:[^"' >]+)""", page.read_text())
        assert loaded == [], page.name
    (tmp_path / "docs" / "concepts.md").write_text("# A page\n\n[nowhere](no-such-page.md)\n")
    assert subprocess.run(build, cwd=tmp_path, capture_output=True).returncode != 0  # it does look


def test_every_page_is_in_the_menu() -> None:
    named = set(re.findall(r'"([\w/-]+\.md)"', (ROOT / "zensical.toml").read_text(encoding="utf-8")))
    assert named == {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}


def test_every_page_is_told_to_language_models_under_its_own_title() -> None:
    told = dict(re.findall(r"^- \[(.+)\]\(docs/(.+)\)$", (ROOT / "llms.txt").read_text(encoding="utf-8"), re.MULTILINE))
    pages = (ROOT / "docs").rglob("*.md")
    titles = {page.read_text(encoding="utf-8").splitlines()[0][2:]: str(page.relative_to(ROOT / "docs")) for page in pages}
    assert told == titles


@pytest.mark.real
def test_the_start(minilm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("docs/index.md", "python")
    exec(code, {})
    assert "[6, 12, " in capsys.readouterr().out


def test_aligning_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("docs/how-to/align-words.md", "python")
    (tmp_path / "pairs.txt").write_text("the cats sat ||| two dogs\none cat ||| the unbelievable cat\n")
    (tmp_path / "gold.txt").write_text("0-0\n1-2\n")
    save_tiny(tmp_path / "Helsinki-NLP" / "opus-mt-fr-en", "marian")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert "aer" in capsys.readouterr().out
