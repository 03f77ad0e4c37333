"""CoNLL-2012: documents, sentences, tags, and brackets however they nest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import ReadingError
from headscope.text import Document, Mention
from headscope.text.mention import in_order
from headscope.text.readers.conll2012 import read_conll2012
from tests.text.samples import CONLL2012, numbered


def whole(*brackets: str) -> str:
    """A document of one sentence: LitBank's thirteen columns parted by tabs."""
    rows = ["\t".join(["d", "0", str(number), "w", *"________", value]) for number, value in enumerate(brackets)]
    return "\n".join(["#begin document (d); part 0", *rows, "#end document"])


def read(text: str) -> list[Document]:
    found = list(read_conll2012(numbered(text), "f"))
    assert all(isinstance(document, Document) for document in found), found
    return [document for document in found if isinstance(document, Document)]


def test_documents_by_hand() -> None:
    first, second = read(CONLL2012)
    assert first == Document(
        words=["Ann", "met", "her", "dog", "Both"],
        name="(nw/a/00); part 000",
        fine_tags=["NNP", "VBD", "PRP$", "NN", "DT"],
        sentences=[(0, 4), (4, 5)],
        mentions=[Mention(0, 1, "0"), Mention(2, 3, "0"), Mention(2, 4, "3"), Mention(4, 5, "5"), Mention(4, 5, "6")],
    )
    assert second.words == ["Café"]
    assert second.mentions == []


@pytest.mark.parametrize(
    ("brackets", "mentions"),
    [
        (["(3)|(5", "", "5)"], [(0, 1, "3"), (0, 3, "5")]),
        (["(3|(3", "3)", "3)"], [(0, 2, "3"), (0, 3, "3")]),
        (["(3|(5", "3)", "5)"], [(0, 2, "3"), (0, 3, "5")]),
        (["-", "_", "*"], []),
        (["(3", "3)|(3", "3)"], [(0, 2, "3"), (1, 3, "3")]),
        (["(3", "(3|3)", "3)"], [(1, 2, "3"), (0, 3, "3")]),
    ],
)
def test_brackets(brackets: list[str], mentions: list[tuple[int, int, str]]) -> None:
    (document,) = read(whole(*brackets))
    assert document.mentions == in_order([Mention(*mention) for mention in mentions])
    assert document.fine_tags is None


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (whole("(3"), ["line 2: a mention of '3' begins here that does not end"]),
        (whole("3)"), ["line 2: a mention of '3' ends here that has not begun"]),
        (whole("3"), ["line 2: the last column is '3', which is no coreference"]),
        (whole("(3)5"), ["line 2: the last column is '(3)5'"]),
        (whole("((3)"), ["line 2: the last column is '((3)'"]),
        (whole("(3)||(5)"), ["line 2: the last column is '(3)||(5)'"]),
        (whole("(3)").replace("\t_", "", 8).replace("\t", " "), []),
        (whole("(3)").replace("\n#end document", ""), ["line 2: the document that begins in line 1 has no '#end document'"]),
        (whole("") + "\n\nd 0 0 w -\nd 0 1 w -", ["line 5: this stands outside of any document"]),
        ("d 0 0 w -\n" + whole(""), ["line 1: this stands outside of any document"]),
        ("#begin document (a)\nd 0 0 w -\n" + whole(""), ["line 2: the document that begins in line 1 has no"]),
        ("#begin document (a)\n#end document", ["line 1: the text's words are empty"]),
        ("#begin document (a)\nd 0 0 w\n#end document", ["line 2: a word has 5 columns or more, this line has 4"]),
        ("#begin document (a)\nd 0 0 w -\nd 0 1 w x -\n#end document", ["line 3: this word has 6 columns, the first"]),
        ("#begin document (a)\nd\t0\t0\t\t-\n#end document", ["line 2: the fourth column, the word, is empty"]),
    ],
)
def test_errors_name_the_line(text: str, messages: list[str]) -> None:
    errors = [str(found) for found in read_conll2012(numbered(text), "f") if isinstance(found, ReadingError)]
    assert len(errors) == len(messages)
    for found, message in zip(errors, messages, strict=True):
        assert found.startswith(f"f, {message}")


ONTOGUM = """\
# begin document GUM_interview_ants
0\tBiologist\t(1
1\tNick\t_
2\tBos\t1)
3\ttells\t_
4\tants\t(3|(5)
5\tTuesday\t3)
# end document
# begin document GUM_without_end
0\tAnts\t(7)
1\tsleep\t_
"""


def test_ontogum_has_a_number_a_word_and_brackets() -> None:
    first, second = read(ONTOGUM)
    assert first == Document(
        words=["Biologist", "Nick", "Bos", "tells", "ants", "Tuesday"],
        name="GUM_interview_ants",
        sentences=[(0, 6)],
        mentions=[Mention(0, 3, "1"), Mention(4, 5, "5"), Mention(4, 6, "3")],
    )
    assert (second.name, second.words, second.mentions) == ("GUM_without_end", ["Ants", "sleep"], [Mention(0, 1, "7")])


def test_brackets_that_nothing_parts() -> None:
    """As OntoGUM's files have them, and GUM's own, whose clusters say what they are of."""
    rows = ["0\tDurham\t(3(4)", "1\tCastle\t_", "2\tUnited\t(2", "3\tKingdom\t2)3)", "4\this\t(time-5(person-7-Ann)"]
    (document,) = read("\n".join(["# begin document ", *rows, "5\tday\ttime-5)", "# end document"]))
    numbered = [Mention(0, 1, "4"), Mention(0, 4, "3"), Mention(2, 4, "2")]
    assert document.mentions == [*numbered, Mention(4, 5, "person-7-Ann"), Mention(4, 6, "time-5")]


@pytest.mark.parametrize(
    "rows",
    [
        ["Ann\t(0)", "slept\t-"],
        ["1\tAnn\t(0)", "2\tslept\t_"],
        ["0 Ann NNP (0)", "1 slept VBD -"],
        ["1 Ann Ann Ann NNP nsubj (0)", "2 slept sleep sleep VBD root -"],
        ["nw 0 0 Ann (0)", "nw 0 1 slept -"],
        ["12 0 0 Ann NNP (0)", "12 0 1 slept VBD -"],
    ],
)
def test_any_number_of_columns(rows: list[str]) -> None:
    (document,) = read("\n".join(["#begin document (d)", *rows, "#end document"]))
    assert (document.words, document.mentions) == (["Ann", "slept"], [Mention(0, 1, "0")])


spans = st.tuples(st.integers(0, 4), st.integers(1, 5)).filter(lambda span: span[0] < span[1])


@given(spans=st.lists(spans, max_size=6))
def test_any_mentions_come_back(spans: list[tuple[int, int]]) -> None:
    mentions = [Mention(start, stop, str(number)) for number, (start, stop) in enumerate(spans)]
    brackets = []
    for word in range(5):
        opened = [f"({m.cluster}" for m in mentions if m.start == word and m.stop > word + 1]
        alone = [f"({m.cluster})" for m in mentions if m.start == word and m.stop == word + 1]
        closed = [f"{m.cluster})" for m in mentions if m.start < word and m.stop == word + 1]
        brackets.append((opened + alone, closed))
    for bar in ("|", ""):  # what closes stands behind a bar in any case, or (1 and 2) would be (12)
        (document,) = read(whole(*("|".join(filter(None, (bar.join(one), bar.join(other)))) for one, other in brackets)))
        assert sorted(document.mentions or ()) == sorted(mentions)
