"""What notebooks show of a lens, a site, a reading, a document and a run: small, escaped, and what the numbers say."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import headscope
from headscope.html_table import html_table
from headscope.text import Document, Links, Mention
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

EVIL = "<script>alert(1)</script>"


class Page(HTMLParser):
    """The elements and the text of some HTML; every element is closed."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.names: set[str] = set()
        self.cells: list[str] = []
        self.feed(markup)
        self.close()
        assert self.opened == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag in ("td", "th"):
            self.cells.append("")
        if tag != "img":
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.cells and {"td", "th"} & set(self.opened):
            self.cells[-1] += data


def pictures(markup: str) -> list[str]:
    """Every picture as text, which parses."""
    found = [base64.b64decode(one).decode() for one in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', markup)]
    for picture in found:
        ElementTree.fromstring(picture)
    return found


@pytest.fixture(scope="module")
def lens() -> Iterator[headscope.Lens]:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"), name=EVIL) as lens:
        yield lens


def test_a_table_is_text_however_long_or_broken() -> None:
    page = Page(html_table([[EVIL, "\ud800", "a" * 1000]], [EVIL, "", ""], title=EVIL, about=EVIL, below=EVIL))
    assert page.names <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td"}
    assert page.cells[0] == page.cells[3] == EVIL
    assert len(page.cells[5]) == 300


def test_a_lens_says_what_the_model_is(lens: headscope.Lens) -> None:
    markup = lens._repr_html_()
    page = Page(markup)
    assert page.cells[5:] == ["encoder self", "0 to 2", "4", "8", "yes"]
    assert "BertModel, float32 on cpu, at most 64 tokens" in markup
    assert "(closed)" not in markup


def test_a_lens_of_an_encoder_decoder_and_of_grouped_heads() -> None:
    with headscope.open(tiny("marian"), tiny_tokenizer("unigram")) as lens:
        assert Page(lens._repr_html_()).cells[5::5] == ["encoder self", "decoder self", "decoder cross"]
    assert "(closed)" in lens._repr_html_()
    with headscope.open(tiny("llama"), tiny_tokenizer("bpe")) as lens:
        assert "4 (2 for keys and values)" in Page(lens._repr_html_()).cells


def test_a_site_says_how_it_is_read(lens: headscope.Lens) -> None:
    cells = Page(lens.sites[1]._repr_html_()).cells
    assert dict(zip(cells[::2], cells[1::2], strict=True)) == {
        "heads": "4",
        "size of a head": "8",
        "module": "encoder.layer.1.attention.self",
        "read by": "the attention interface",
        "W_O": "encoder.layer.1.attention.output.dense",
        "norms": "yes",
        "residual connection": "found",
    }


def test_a_reading_shows_its_strongest_links_and_the_head_that_its_view_opens_with(lens: headscope.Lens) -> None:
    reading = lens.read("the cats sat", pair="a dog")
    markup = reading._repr_html_()
    cells = Page(markup).cells
    top = reading.top(4, without_sinks=True).iloc[0]
    assert cells[:2] == ["tokens", "[CLS] the cat ##s sat [SEP] a dog [SEP]"]
    assert cells[5:8] == [f"{top.layer}.{top['head']}", f"{top.query_token} → {top.key_token}", f"{top.weight:.2f}"]
    (picture,) = pictures(markup)
    opened = reading.view().fitted
    assert f"Layer {opened.layer}" in picture
    assert f'alt="head {opened.layer}.{opened.heads[0]}: what it looks at in' in markup
    assert ">##s<" in picture
    assert len(markup) < 60_000
    assert "words" in Page(reading.to_words()._repr_html_()).cells


def test_a_long_reading_is_a_map_and_a_translation_its_cross_attention(lens: headscope.Lens) -> None:
    long = lens.read("the cat sat " * 15)
    assert "<image" in pictures(long._repr_html_())[0]
    with headscope.open(tiny("marian"), tiny_tokenizer("unigram")) as translator:
        markup = translator.read("the cat", target="a dog")._repr_html_()
    assert "strongest links beyond sinks, cross attention" in Page(markup).cells
    assert "Decoder cross" in pictures(markup)[0]


def test_a_document_shows_its_words_and_layers() -> None:
    plain = Page(Document(EVIL, pair="b", name=EVIL)._repr_html_())
    assert plain.cells == ["text", EVIL, "pair", "b"]
    annotated = Document(
        words=["She", "sleeps"], tags=["PRON", "VERB"], parents=[1, -1], relations=["nsubj", "root"],
        mentions=[Mention(0, 1, "her")], target_words=["Elle", "dort"],
        alignment=Links(frozenset({(0, 0)}), frozenset({(0, 0)})),
    )  # fmt: skip
    cells = Page(annotated._repr_html_()).cells
    assert cells[:10] == ["text", "She sleeps", "target", "Elle dort", "words", "2", "mentions", "1", "gold links", "1"]
    assert cells[10:] == [
        "word",
        "tag",
        "relation",
        "head",
        "She",
        "PRON",
        "nsubj",
        "sleeps",
        "sleeps",
        "VERB",
        "root",
        "(root)",
    ]
    many = Document(words=["word"] * 40, tags=["X"] * 40)._repr_html_()
    assert "and 16 more words" in many
    assert Page(many).cells.count("X") == 24


def test_a_run_shows_what_was_run_and_a_square_a_head(lens: headscope.Lens, tmp_path: Path) -> None:
    run = headscope.study(lens, ["the cat sat", EVIL], ["entropy", "beyond_sinks"], out=tmp_path / "run")
    markup = run._repr_html_()
    cells = Page(markup).cells
    facts = dict(zip(cells[::2], cells[1::2], strict=True))
    assert facts["Model"] == EVIL
    assert facts["Tables"] == "beyond_sinks, entropy"
    assert facts["Folder"] == str(tmp_path / "run")
    (picture,) = pictures(markup)
    kinds = run.roles["family"].nunique()
    assert picture.count("<rect") == 12 + kinds
    assert len(markup) < 20_000


def test_a_run_without_heads_has_no_picture() -> None:
    run = headscope.Run.of({})
    assert pictures(run._repr_html_()) == []
    assert "none: not finished" in Page(run._repr_html_()).cells
