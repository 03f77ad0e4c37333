"""Plain text by lines, paragraphs and pairs of paragraphs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headscope.text import Document
from headscope.text.readers.lines import Line
from headscope.text.readers.plain import read_lines, read_paragraph_pairs, read_paragraphs
from tests.text.samples import numbered


def pairs(text: str) -> list[tuple[str | None, str | None]]:
    found = list(read_paragraph_pairs(numbered(text), "f"))
    assert all(isinstance(document, Document) for document in found)
    return [(document.text, document.pair) for document in found if isinstance(document, Document)]


def test_lines() -> None:
    documents = list(read_lines(numbered(" one \n\n\t\ntwo"), "f"))
    assert documents == [Document("one", name="f:1"), Document("two", name="f:4")]


def test_paragraphs() -> None:
    documents = list(read_paragraphs(numbered("\none\n two\n \n\nthree\n"), "f"))
    assert documents == [Document("one two", name="f:2"), Document("three", name="f:6")]


def test_pairs_do_not_overlap() -> None:
    assert pairs("a\n\nb\n\nc\nc\n\nd") == [("a", "b"), ("c c", "d")]


def test_an_odd_last_paragraph_joins_the_last_pair() -> None:
    assert pairs("a\n\nb\n\nc\n\nd\n\ne") == [("a", "b"), ("c", "d e")]
    assert pairs("a") == [("a", None)]
    assert pairs("") == []


def test_no_pair_crosses_a_title_and_headings_are_no_paragraphs() -> None:
    text = " = One = \n\na\n\n = = Part = = \n\nb\n\n = Two = \n\nc\n\nd\n\ne\n\n = Three = \n\nf"
    assert pairs(text) == [("a", "b"), ("c", "d e"), ("f", None)]


def test_a_bad_line_costs_its_own_pair_only() -> None:
    lines = numbered("a\n\nb\n\nc\n\nd\n\ne\n\nf")
    lines[2] = Line(3, "", "the line is not UTF-8")
    first, *rest = read_paragraph_pairs(lines, "f")
    assert str(first).startswith("f, line 3: the line is not UTF-8; ")
    assert [document.text for document in rest if isinstance(document, Document)] == ["c", "e"]


@given(kinds=st.lists(st.sampled_from(["= Title =", "= = Part = =", "paragraph"]), max_size=12))
def test_every_paragraph_is_in_one_pair(kinds: list[str]) -> None:
    parts = [f"{kind}{number}" if kind == "paragraph" else kind for number, kind in enumerate(kinds)]
    found = pairs("\n\n".join(parts))
    words = [word for text, pair in found for word in f"{text} {pair or ''}".split()]
    assert words == [part for part in parts if part.startswith("paragraph")]
    articles = "\n".join(kinds).split("= Title =")
    assert sum(pair is None for _, pair in found) == sum(article.count("paragraph") == 1 for article in articles)
