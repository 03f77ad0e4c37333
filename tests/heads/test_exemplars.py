"""Exemplars as text: what is marked is the strongest pair, on the source, on the target, and between the two."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.heads.exemplars import LOOKS_AT, SPANS, in_markdown, in_one_line, readable
from headscope.lens.tokens.labels import readable as labels
from headscope.lens.tokens.pieces import Pieces
from headscope.statistics import Exemplars
from headscope.text import Document
from tests.statistics.tester import lens_for

TRANSLATED = [
    Document("the cat sat on", target="two dogs", name="first"),
    Document("a dog and", target="pre split words", name="second"),
]
ATTENTIONS = [("encoder", "self"), ("decoder", "self"), ("decoder", "cross")]


@pytest.fixture(scope="module")
def shown() -> list[dict[str, Any]]:
    lens = lens_for("marian")
    statistic = Exemplars().start(lens.sites)
    for document in TRANSLATED:
        lens.run(lens.encoder.collate([lens.encoder.encode(document)]), statistic.update)
    return readable(statistic.table(), TRANSLATED, lens).to_dict("records")


def strongest(document: Document, stack: str, kind: str, layer: int, head: int) -> tuple[float, str, str]:
    """Out of the whole map: no special token counts, and no token that looks at itself."""
    lens = lens_for("marian")
    encoded = lens.encoder.encode(document)
    queries = encoded.source if stack == "encoder" else encoded.target
    keys = encoded.source if kind == "cross" else queries
    assert queries is not None
    assert keys is not None
    scores = lens.read(document.text, target=document.target).scores(kind=kind, stack=stack, layer=layer)[head].clone()
    scores[[place for place, special in enumerate(queries.special) if special]] = -1
    scores[:, [place for place, special in enumerate(keys.special) if special]] = -1
    if kind == "self":
        scores.fill_diagonal_(-1)
    row, key = divmod(int(scores.argmax()), scores.shape[1])
    return float(scores.max()), labels(queries.tokens)[row], labels(keys.tokens)[key]


@pytest.mark.parametrize(("stack", "kind"), ATTENTIONS)
def test_what_is_marked_is_the_strongest_pair(shown: list[dict[str, Any]], stack: str, kind: str) -> None:
    mine = [row for row in shown if (row["stack"], row["kind"]) == (stack, kind)]
    assert {row["source"] for row in mine} == {"first", "second"}
    for row in mine:
        document = next(one for one in TRANSLATED if one.name == row["source"])
        score, attending, attended = strongest(document, stack, kind, int(row["layer"]), int(row["head"]))
        assert row["score"] == pytest.approx(score, abs=1e-6)
        assert (row["attending"], row["attended"]) == (attending, attended)
        assert row["text"][row["attending_start"] : row["attending_stop"]] == attending
        assert (row["attended_text"] or row["text"])[row["attended_start"] : row["attended_stop"]] == attended


def test_each_side_stands_where_it_belongs(shown: list[dict[str, Any]]) -> None:
    for row in shown:
        document = next(one for one in TRANSLATED if one.name == row["source"])
        source, target = document.text, document.target
        own = {"encoder self": (source, ""), "decoder self": (target, ""), "decoder cross": (target, source)}
        assert (row["text"], row["attended_text"]) == own[f"{row['stack']} {row['kind']}"]
        assert in_markdown(row).replace("*", "") == LOOKS_AT.join(filter(None, (row["text"], row["attended_text"])))


def test_near_duplicates_are_shown_once() -> None:
    lens = lens_for("bert")
    texts = [Document("the cat sat on the mat"), Document("the cat sat on a mat"), Document("two dogs")]
    statistic = Exemplars().start(lens.sites)
    for document in texts:
        lens.run(lens.encoder.collate([lens.encoder.encode(document)]), statistic.update)
    table = readable(statistic.table(), texts, lens)
    assert table.groupby(["layer", "head"]).size().eq(2).all()
    assert sorted(table["rank"].unique()) == [1, 2]


@given(st.lists(st.text("ab \n\t*", max_size=4), min_size=1, max_size=8), st.data())
def test_a_token_stays_itself_in_one_line(tokens: list[str], data: st.DataObject) -> None:
    """Whatever spaces stand around it, between and in tokens; a token that is nothing but space is a place without width."""
    place = data.draw(st.integers(0, len(tokens) - 1))
    stops = list(accumulate(len(token) for token in tokens))
    pieces = Pieces("".join(tokens), list(zip([0, *stops], stops, strict=False)))
    line, start, stop = in_one_line(pieces, place)
    assert line == " ".join(pieces.text.split())
    assert 0 <= start <= stop <= len(line)
    assert line[start:stop] == " ".join(tokens[place].split())
    assert (
        line[:start].split() + line[start:].split()
        == "".join(tokens[:place]).split() + "".join([tokens[place].lstrip(), *tokens[place + 1 :]]).split()
    )


@pytest.mark.parametrize(
    ("text", "other", "spans", "written"),
    [
        ("it saw her", "", (7, 10, 0, 2), "*it* saw **her**"),
        ("it saw her", "", (0, 2, 0, 2), "***it*** saw her"),
        ("elle", "it saw her", (0, 4, 7, 10), "**elle** ← it saw *her*"),
        ("2 * 3 is 6", "", (6, 8, 9, 10), "2 * 3 **is** *6*"),
    ],
)
def test_marks_as_the_paper_prints_them(text: str, other: str, spans: tuple[int, ...], written: str) -> None:
    row = {"text": text, "attended_text": other, **dict(zip(SPANS, spans, strict=True))}
    assert in_markdown(row) == written
