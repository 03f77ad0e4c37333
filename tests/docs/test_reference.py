"""Every measure and statistic has its section: a formula, an example that runs, a picture, the paper's line, its limits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headscope.measures import MEASURES
from headscope.statistics import STATISTICS
from tests import places
from tests.docs import pages

FAMILIES = sorted(page.name for page in (places.DOCS / "statistics").glob("*.md") if page.name != "index.md")
REFERENCE = ["measures.md", *(f"statistics/{page}" for page in FAMILIES)]


def own(module: str) -> bool:
    """A test may leave one of its own in the registries while it runs."""
    return module.startswith("headscope.")


def documented() -> dict[str, tuple[str, str]]:
    """By its name: the page, and what the section says."""
    return {
        name: (page, said) for page in REFERENCE for name, said in pages.sections(page).items() if re.fullmatch(r"\w+", name)
    }


def registered() -> dict[str, str]:
    """By its name: the page, or the folder of pages, that it must be on."""
    measures = {name: "measures.md" for name, one in MEASURES.items() if own(one.compute.__module__)}
    return measures | {name: "statistics/" for name, cls in STATISTICS.items() if own(cls.__module__)}


def test_every_name_has_its_section_and_no_section_is_of_nothing() -> None:
    assert {
        name: page for name, (page, _) in documented().items() if not page.startswith(registered().get(name, "nowhere"))
    } == {}
    assert set(documented()) == set(registered())


@pytest.mark.parametrize("name", sorted(documented()))
def test_a_section_has_all_its_parts(name: str) -> None:
    page, said = documented()[name]
    assert re.search(r"^    \S", said, re.MULTILINE), "a formula"
    assert "```pycon" in said, "an example"
    (picture,) = re.findall(r"!\[.+\]\((.+?)\)", said)
    assert (places.DOCS / page).parent.joinpath(picture).is_file()
    assert Path(picture).stem == name
    assert re.search(r"clark2019|vig2019|kobayashi2020|Kobayashi|None of the three papers", said), "where it comes from"
    assert "**What it does not say:**" in said


def test_the_overview_lists_every_statistic_under_its_family_with_its_own_words() -> None:
    rows = re.findall(r"^\| \[`(\w+)`\]\((.+?)\) \| (.+?) \|$", pages.text("statistics/index.md"), re.MULTILINE)
    assert {name: (link, said) for name, link, said in rows} == {
        name: (
            f"{documented()[name][0].removeprefix('statistics/')}#{name}",
            cls.about.replace("|", "\\|").replace("<", "&lt;"),
        )
        for name, cls in STATISTICS.items()
        if own(cls.__module__)
    }


@pytest.mark.real
@pytest.mark.parametrize("page", REFERENCE)
def test_formulas_give_what_headscope_gives(
    page: str, minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    assert pages.run_examples(page) > 8


PAPERS = ("clark2019", "vig2019", "kobayashi2020")
QUOTED = [
    (paper, part)
    for page in REFERENCE
    for line in re.findall(r"^> (.+)$", pages.text(page), re.MULTILINE)
    for paper in [re.search("|".join(PAPERS), line.rpartition(" — ")[2])[0]]  # type: ignore[index]
    for part in re.findall(r'"(.+?)"', line.rpartition(" — ")[0])
]


def plain(text: str) -> str:
    """Letters and digits alone: papers were read out of PDFs, which part words at the ends of lines and lose signs."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)|[\W_]", r"\1", text).lower()


@pytest.mark.parametrize(("paper", "line"), QUOTED)
def test_papers_say_what_is_quoted(paper: str, line: str) -> None:
    file = places.PAPERS / f"{paper}.txt"
    if not file.is_file():
        pytest.skip("../shared/papers is not here")
    assert plain(line) in plain(file.read_text(encoding="utf-8"))
