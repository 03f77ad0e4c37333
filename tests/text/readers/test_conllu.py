"""CoNLL-U: words, spaces, trees, multiword tokens, empty nodes, documents and coreference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import ReadingError
from headscope.text import Corpus, Document, Mention
from headscope.text.natural_text import Multiword
from headscope.text.readers.conllu import read_conllu
from tests.text.samples import CONLLU, COREFUD, numbered


def read(text: str, unit: str = "sentence") -> list[Document]:
    found = list(read_conllu(numbered(text), "f", unit=unit))
    assert all(isinstance(document, Document) for document in found), found
    return [document for document in found if isinstance(document, Document)]


def error(text: str, unit: str = "sentence") -> str:
    (found,) = read_conllu(numbered(text), "f", unit=unit)
    assert isinstance(found, ReadingError)
    return str(found)


def rows(*words: str) -> str:
    """Rows from `id form head misc`, with what is not named filled in."""
    lines = []
    for word in words:
        number, form, head, misc = (*word.split(), "_")[:4]
        lines.append("\t".join([number, form, "_", "X", "_", "_", head, "dep", "_", misc]))
    return "\n".join(lines)


def test_a_sentence_by_hand() -> None:
    first, second = read(CONLLU)
    assert first == Document(
        words=["Vamos", "nos", "a", "el", "mar", "."],
        name="s1",
        spaces=[False, True, False, True, False, True],
        tags=["VERB", "PRON", "ADP", "DET", "NOUN", "PUNCT"],
        fine_tags=["V", "P", "S", "D", "N", "F"],
        parents=[-1, 0, 4, 4, 0, 0],
        relations=["root", "obj", "case", "det", "obl", "punct"],
        sentences=[(0, 6)],
        mentions=[Mention(0, 1, "e1"), Mention(1, 2, "e1"), Mention(3, 5, "e2")],
        multiwords=[Multiword(0, 2, "Vámonos"), Multiword(2, 4, "al")],
    )
    assert first.text_and_spans() == ("Vámonos al mar.", [(0, 7), (0, 7), (8, 10), (8, 10), (11, 14), (14, 15)])
    assert second.text_and_spans()[0] == "Sí!"
    assert second.mentions is None


def test_documents() -> None:
    text = CONLLU.replace("# newdoc id = d2", "# sent_id")
    (document,) = read(text, "document")
    assert document.name == "d1"
    assert document.sentences == [(0, 6), (6, 8)]
    assert list(document.parents or ())[6:] == [-1, 6]
    assert document.text_and_spans()[0] == "Vámonos al mar. Sí!"
    assert [document.name for document in read(CONLLU, "document")] == ["d1", "d2"]
    assert [document.name for document in read(CONLLU.replace(" id = d2", ""), "document")] == ["d1", "f:14"]
    assert len(read(rows("1 a 0") + "\n\n" + CONLLU, "document")) == 3, "what stands before the first newdoc is one too"


def test_columns_that_are_not_filled_in_are_no_layers() -> None:
    (document,) = read("\t".join(["1", "word", *"________"]))
    assert document == Document(words=["word"], name="f:1", spaces=[True], sentences=[(0, 1)])


def test_comments_alone_are_nothing() -> None:
    assert read("# a comment\n\n# another") == []


def test_spaces_inside_a_multiword_token_are_its_own() -> None:
    (document,) = read(rows("1-2 didn't _ SpaceAfter=No", "1 did 0", "2 n't 1", "3 ! 1"))
    assert document.spaces == [False, False, True]
    assert document.text_and_spans() == ("didn't!", [(0, 3), (3, 6), (6, 7)])


@pytest.mark.parametrize(
    ("entities", "mentions"),
    [
        (["(e1-x(e2-y)", "_", "e1)"], [(0, 1, "e2"), (0, 3, "e1")]),
        (["(e1-x(e1-x", "e1)", "e1)"], [(0, 3, "e1"), (0, 2, "e1")]),
        (["(e1(e2(e3", "e2)", "e3)e1)"], [(0, 2, "e2"), (0, 3, "e1"), (0, 3, "e3")]),
        (["(e1)(e2", "e2)(e1)", "(e2)"], [(0, 1, "e1"), (0, 2, "e2"), (1, 2, "e1"), (2, 3, "e2")]),
        (["(e1[1/2]-x)", "_", "(e1[2/2]-x)"], [(0, 1, "e1")]),
        (["(e1--1-CorefType:a,b", "_", "e1)"], [(0, 3, "e1")]),
    ],
)
def test_entities(entities: list[str], mentions: list[tuple[int, int, str]]) -> None:
    misc = [value if value == "_" else f"SpaceAfter=No|Entity={value}|X=1" for value in entities]
    (document,) = read(rows(*(f"{number} w 0 {value}" for number, value in enumerate(misc, 1))))
    assert sorted(document.mentions or ()) == sorted(Mention(*mention) for mention in mentions)


def test_a_mention_that_begins_on_an_empty_node() -> None:
    text = rows("1 a 0", "1.1 zero _ Entity=(e1(e2)", "2 b 1 Entity=e1)")
    (document,) = read(text)
    assert document.mentions == [Mention(1, 2, "e1")]


def test_mentions_across_sentences_need_documents() -> None:
    text = rows("1 a 0 Entity=(e1") + "\n\n" + rows("1 b 0 Entity=e1)")
    opened, closed = read_conllu(numbered(text), "f")
    expected = (
        "f, line 1: a mention of 'e1' begins here that does not end in this sentence: read the file by documents, with unit="
    )
    assert expected in str(opened)
    assert "f, line 3: a mention of 'e1' ends here that has not begun" in str(closed)
    (document,) = read(text, "document")
    assert document.mentions == [Mention(0, 2, "e1")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\tword\t_", "line 1: a word has 10 columns parted by tabs, this line has 3"),
        (rows("1 a 0", "3 b 1"), "line 2: the number of this word is '3', but 2 comes next"),
        (rows("1 a 0", "١ b 1"), "line 2: the number of this word"),
        (rows("1 a 2"), "line 1: the head of word 1 is '2', but must be 0 or another of the 1 words"),
        (rows("1 a 1"), "line 1: the head of word 1 is '1'"),
        (rows("1 a 0", "2 b x"), "line 2: the head of word 2 is 'x'"),
        (rows("1 a 0", "2 b _"), "line 2: the head of word 2 is '_'"),
        (rows("1 a 0", "2 b " + "9" * 5000), "line 2: the head of word 2"),
        (rows("2-3 ab _", "1 a 0"), "line 1: the multiword token 2-3 must stand right before its first word"),
        (rows("1-2 ab _", "1 a 0"), "line 1: this multiword token has no words, or shares them"),
        (rows("1-0 ab _", "1 a 0"), "line 1: this multiword token has no words, or shares them"),
        (rows("1-2 ab _", "1 a 0", "2-3 bc _", "2 b 1", "3 c 1"), "line 3: this multiword token has no words, or shares"),
        (rows("1.1 a _"), "line 1: this sentence has no words"),
        (rows("1 a 0 Entity=e1"), "line 1: Entity is 'e1', which is no list of brackets"),
        (rows("1 a 0 Entity=()"), "line 1: Entity is '()'"),
        ("1\t \t_\t_\t_\t_\t0\t_\t_\t_", "line 1: the text's words are empty"),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    assert f"f, {message}" in error(text)


def test_a_bad_sentence_costs_its_own_document_only() -> None:
    good = rows("1 a 0")
    text = "\n\n".join([good, rows("1 b 7"), good])
    assert [type(found) for found in read_conllu(numbered(text), "f")] == [Document, ReadingError, Document]
    assert "line 3" in error(text, "document")


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Any sentence with a tree, spaces, mentions, and multiword tokens that stand apart."""
    count = draw(st.integers(1, 6))
    letters = st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="#"), min_size=1, max_size=3)
    starts = sorted(
        draw(st.sets(st.integers(0, max(count - 2, 0)).filter(lambda start: start % 2 == 0 and start + 2 <= count)))
    )
    multiwords = [Multiword(start, start + 2, draw(letters)) for start in starts]
    spaces = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    for start in starts:
        spaces[start] = False
    spans = st.tuples(st.integers(0, count - 1), st.integers(1, count)).filter(lambda span: span[0] < span[1])
    mentions = [Mention(start, stop, f"e{number}") for number, (start, stop) in enumerate(draw(st.lists(spans, max_size=4)))]
    return Document(
        words=draw(st.lists(letters, min_size=count, max_size=count)),
        name="s1",
        spaces=spaces,
        tags=draw(st.lists(st.sampled_from(["NOUN", "VERB"]), min_size=count, max_size=count)),
        parents=[
            -1,
            *(draw(st.integers(-1, count - 1).filter(lambda head, word=word: head != word)) for word in range(1, count)),
        ],
        relations=["dep"] * count,
        sentences=[(0, count)],
        mentions=sorted(mentions, key=lambda mention: mention[:2]) or None,
        multiwords=multiwords or None,
    )


def as_conllu(document: Document) -> str:
    lines = [f"# sent_id = {document.name}"]
    for index, word in enumerate(document.words):
        number = index + 1
        no_space = "SpaceAfter=No"
        for start, stop, form in document.multiwords or ():
            if start == index:
                lines.append(
                    "\t".join([f"{start + 1}-{stop}", form, *"_______", "_" if document.spaces[stop - 1] else no_space])
                )
        mentions = document.mentions or ()
        brackets = "".join(f"{m.cluster})" for m in mentions if m.stop == number and m.start < index)
        brackets += "".join(f"({m.cluster}-x" for m in mentions if m.start == index and m.stop > number)
        brackets += "".join(f"({m.cluster}-x)" for m in mentions if (m.start, m.stop) == (index, number))
        misc = [*([] if document.spaces[index] else [no_space]), *([f"Entity={brackets}"] if brackets else [])]
        columns = [str(number), word, "_", document.tags[index], "_", "_", str(document.parents[index] + 1), "dep", "_"]
        lines.append("\t".join([*columns, "|".join(misc) or "_"]))
    return "\n".join(lines) + "\n"


@given(document=documents())
def test_what_is_written_is_read(document: Document) -> None:
    assert read(as_conllu(document)) == [document]


@pytest.mark.parametrize("without", ["", "# global.Entity = eid-etype-head-other\n"])
def test_what_has_no_entities_among_those_that_have_has_an_empty_list(without: str, tmp_path: Path) -> None:
    path = tmp_path / "coref.conllu"
    path.write_text(COREFUD.replace(without, "") if without else COREFUD)
    found = [document.mentions for document in Corpus.of(path)]
    assert found == [[Mention(0, 1, "e1")], [], [Mention(0, 1, "e1")], []]
    one, two = Corpus.from_files(path, unit="document")
    assert (one.name, one.mentions) == ("one", [Mention(0, 1, "e1"), Mention(4, 5, "e1")])
    assert (two.name, two.mentions) == ("two", [])
    path.write_text(re.sub(r"Entity=.*|# global.*", "_", COREFUD))
    assert {document.mentions for document in Corpus.of(path)} == {None}, "a treebank without coreference has no such layer"
