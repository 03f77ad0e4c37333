"""LitBank's tab-separated form: two files, one document."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from headscope.errors import InputError
from headscope.text import Corpus, Document, Mention
from headscope.text.readers.litbank import read_annotation
from tests.text.samples import LITBANK, LITBANK_TEXT, numbered


def read(annotation: str, text: str = LITBANK_TEXT) -> Document | InputError:
    (found,) = read_annotation(numbered(annotation), "x.ann", numbered(text), "x.txt")
    return found


def test_a_document_by_hand() -> None:
    assert read(LITBANK) == Document(
        words=["Ann", "met", "a", "café", "owner", ".", "She", "smiled", "."],
        name="x.ann",
        sentences=[(0, 6), (6, 9)],
        mentions=[Mention(0, 1, "Ann-0", "PROP"), Mention(6, 7, "Ann-0", "PRON")],
    )


def test_predicates_and_appositions_have_clusters_of_their_own() -> None:
    owner = "MENTION\tT3\t0\t2\t0\t4\ta café owner\tPER\tNOM\n"
    for row in ("COP\tT3\tT1\n", "APPOS\tT3\tT1\n", ""):
        document = read(owner + LITBANK + row)
        assert isinstance(document, Document)
        assert [mention.cluster for mention in document.mentions or ()] == ["Ann-0", "T3", "Ann-0"]


def test_blank_lines_of_the_text_count_as_sentences_without_words() -> None:
    document = read("MENTION\tT2\t2\t0\t2\t0\tShe\tPER\tPRON", LITBANK_TEXT.replace("\n", "\n\n", 1))
    assert isinstance(document, Document)
    assert document.sentences == [(0, 6), (6, 9)]
    assert document.mentions == [Mention(6, 7, "T2", "PRON")]


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ("T1\tPER 0 3\tAnn", "line 1: a row begins with one of MENTION, COREF, COP, APPOS, not with 'T1'"),
        ("MENTION\tT1\t0\t0", "line 1: a MENTION row has 9 columns parted by tabs, this one 4"),
        ("COREF\tT1\t", "line 1: one of the first three columns is empty"),
        ("COREF\tT1\tAnn-0", "line 1: there is no mention T1"),
        (LITBANK + LITBANK, "line 5: there is a mention T1 already"),
        (LITBANK + "COREF\tT1\tBob-1", "line 5: the mention T1 is in two clusters"),
        (LITBANK.replace("T1\t0\t0", "T1\t0\tx"), "line 1: the sentences and words of mention T1 are not all numbers"),
        (LITBANK.replace("T2\t1\t0\t1\t0", "T2\t1\t0\t9\t0"), "line 2: mention T2 is in sentence 9, the text has 3"),
        (LITBANK.replace("T1\t0\t0\t0\t0", "T1\t0\t1\t0\t1"), "line 1: mention T1 is 'Ann', but the text has 'met' there"),
        (LITBANK.replace("PROP", "NAME"), "line 1: the last column is 'NAME', not one of PRON, NOM, PROP"),
    ],
)
def test_errors_name_the_line(annotation: str, message: str) -> None:
    assert str(read(annotation)).startswith(f"x.ann, {message}")


def test_folders_gzip_and_missing_texts(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.ann").write_text(LITBANK, encoding="utf-8")
        (tmp_path / f"{name}.txt").write_text(LITBANK_TEXT, encoding="utf-8")
    corpus = Corpus.of(tmp_path)
    assert [document.name for document in corpus] == [str(tmp_path / "a.ann"), str(tmp_path / "b.ann")]
    assert corpus.describe()["bytes"] == 2 * (len(LITBANK.encode()) + len(LITBANK_TEXT.encode()))
    assert [document.name for document in Corpus.from_files(tmp_path, format="litbank")] == [
        document.name for document in corpus
    ]
    before = corpus.fingerprint()
    (tmp_path / "a.txt").write_text(LITBANK_TEXT.replace("smiled", "sang"), encoding="utf-8")
    assert corpus.fingerprint() != before, "the text counts too"

    (tmp_path / "a.txt").rename(tmp_path / "gone")
    with pytest.raises(InputError, match=r"a\.txt, line 1: the file cannot be read"):
        list(Corpus.of(tmp_path / "a.ann"))
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(LITBANK_TEXT.encode()))
    (tmp_path / "a.ann.gz").write_bytes(gzip.compress(LITBANK.encode()))
    assert len(list(Corpus.of(tmp_path / "a.ann.gz"))) == 1


def test_nothing_marked_is_no_loss(tmp_path: Path) -> None:
    (tmp_path / "a.ann").touch()
    (tmp_path / "a.txt").write_text(LITBANK_TEXT, encoding="utf-8")
    (document,) = Corpus.from_files(tmp_path / "a.ann", format="litbank")
    assert document.mentions == []
