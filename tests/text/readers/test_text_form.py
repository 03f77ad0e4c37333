"""Plain text in its forms: WikiText with blank lines or none is the same documents, and its marks are undone."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from headscope.errors import InputError
from headscope.text import Corpus, Document
from headscope.text.as_read import as_read, notices

# As it is published: blank lines around headings, none between two paragraphs.
ORIGINAL = """ 
 = Nero = 
 
 Nero was a ruler , born in 37 . 
 He sang guest @-@ starring songs for 1 @,@ 000 @.@ 5 denarii . 
 
 = = Fire = = 
 
 
 = = = Rome = = = 
 
 It burned . 
 He did not . 
 He fiddled . 
 
 = Cats = 
 
 They sleep . 
"""  # fmt: skip
APART = ORIGINAL.replace("\n", "\r\n\r\n")
TOGETHER = "\n".join(line for line in ORIGINAL.split("\n") if line.strip())
FORMS = {"original": ORIGINAL, "apart": APART, "together": TOGETHER}


def said(corpus: Corpus) -> list[tuple[str | None, str | None]]:
    return [(document.text, document.pair) for document in corpus]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packed", [False, True])
def test_the_pairs_of_wikitext_are_the_same_with_blank_lines_or_none(
    form: str, packed: bool, write: Callable[..., Path]
) -> None:
    content = FORMS[form].encode()
    path = write(gzip.compress(content) if packed else content)
    assert said(Corpus.from_files(path, format="paragraph-pairs")) == [
        ("Nero was a ruler , born in 37 .", "He sang guest-starring songs for 1,000.5 denarii ."),
        ("It burned .", "He did not . He fiddled ."),
        ("They sleep .", None),
    ]


@pytest.mark.parametrize("format", ["lines", "paragraphs"])
def test_so_are_its_lines_and_paragraphs(format: str, write: Callable[..., Path]) -> None:
    read = [said(Corpus.from_files(write(content), format=format)) for content in FORMS.values()]
    assert read[0] == read[1] == read[2]
    assert len(read[0]) == 10  # with four headings
    assert read[0][3] == ("= = Fire = =", None)


def test_the_marks_can_be_kept_and_both_is_said(write: Callable[..., Path]) -> None:
    path = write(ORIGINAL, "wiki.txt")
    kept, undone = (Corpus.from_files(path, format="paragraph-pairs", keep_marks=keep) for keep in (True, False))
    assert (next(iter(kept)).pair or "").startswith("He sang guest @-@ starring songs for 1 @,@ 000 @.@ 5")
    assert len(list(kept)) == len(list(undone))
    assert kept.fingerprint() != undone.fingerprint()
    described = undone.take(992).describe()
    assert (described["forms"], described["format"], described["asked"]) == ({"wikitext": 1}, "paragraph-pairs", 992)
    told = as_read({**described, "documents": 3})
    assert told == (
        "3 documents of wiki.txt (paragraph-pairs; WikiText, its marks undone), fewer than the 992 that were asked for"
    )
    first, second = notices({**described, "documents": 3})
    assert first.startswith(
        "wiki.txt: WikiText, read with a paragraph a line; its marks, such as @-@, are undone (--keep-marks"
    )
    assert second == "wiki.txt: 3 documents are read, fewer than the 992 that were asked for."
    assert notices({**kept.take(2).describe(), "documents": 2}) == [
        first.replace("undone (--keep-marks leaves them)", "kept")
    ]


def test_long_lines_without_blank_ones_are_paragraphs(write: Callable[..., Path]) -> None:
    long = [f"Sentence {number} of a paragraph that goes on and on. " * 4 for number in range(4)]
    for parted in ("\n", "\n\n"):
        corpus = Corpus.from_files(write(parted.join(long)), format="paragraph-pairs")
        assert said(corpus) == [(long[0].strip(), long[1].strip()), (long[2].strip(), long[3].strip())]
        assert ("forms" in corpus.describe()) == (parted == "\n")


def test_a_wrapped_text_is_as_it_was(write: Callable[..., Path]) -> None:
    """Headings do not make it WikiText: its lines are broken to fit a screen. Marks that are not WikiText's stay."""
    text = "= Nero =\n\nA ruler of Rome,\nbroken @-@ into lines.\n\nAnother one,\nlikewise.\n"
    corpus = Corpus.from_files(write(text), format="paragraph-pairs")
    assert said(corpus) == [("A ruler of Rome, broken @-@ into lines.", "Another one, likewise.")]
    assert "forms" not in corpus.describe()


def test_marks_are_of_plain_text(write: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="jsonl is not plain text"):
        Corpus.from_files(write('{"text": "a"}\n'), keep_marks=True)


@pytest.mark.real
def test_real_wikitext_in_three_forms(data: Path, write: Callable[..., Path]) -> None:
    """The shared file has blank lines everywhere; the published form only around headings (by those, 293 "pairs")."""
    path = data / "text" / "wikitext2-raw-test.txt"
    filled = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    published = "\n".join(f" \n{line}\n " if line.strip().startswith("= ") else line for line in filled)
    for format, count in (("paragraph-pairs", 1_075), ("paragraphs", 2_891)):
        read = [
            said(Corpus.from_files(one, format=format))
            for one in (path, write(published, "published.txt"), write("\n".join(filled), "together.txt"))
        ]
        assert len(read[0]) == count
        assert read[0] == read[1] == read[2]
        assert not any(" @-@ " in (text or "") for text, _ in read[0])


def test_documents_keep_their_lines(write: Callable[..., Path]) -> None:
    path = write(ORIGINAL)
    names = [document.name for document in Corpus.from_files(path, format="paragraph-pairs")]
    assert names == [f"{path}:{line}" for line in (4, 12, 18)]
    assert all(isinstance(document, Document) for document in Corpus.of(path))
