"""Real corpora: the counts that their README states."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from headscope.text import Corpus, Document
from headscope.text.mention import in_order
from headscope.text.readers.text_form import heading_level

pytestmark = pytest.mark.real


@pytest.mark.parametrize(
    ("part", "sentences", "documents", "words"),
    [("train", 12_544, 540, 204_577), ("dev", 2_001, 318, 25_147), ("test", 2_077, 316, 25_094)],
)
def test_the_english_web_treebank(data: Path, part: str, sentences: int, documents: int, words: int) -> None:
    path = data / "treebank" / f"en_ewt-ud-{part}.conllu"
    with path.open(encoding="utf-8") as file:
        texts = [line.removeprefix("# text = ").rstrip("\n") for line in file if line.startswith("# text = ")]
    corpus = Corpus.of(path)
    assert corpus.describe()["format"] == "conllu"
    found = list(corpus)
    assert len(found) == sentences
    assert sum(len(document.words or ()) for document in found) == words
    joined = [document.text_and_spans()[0] for document in found]
    assert joined == [text.replace("\xa0", " ") for text in texts], "spaces and multiword tokens are right"
    whole = list(Corpus.from_files(path, unit="document"))
    assert len(whole) == documents
    assert sum(len(document.sentences or ()) for document in whole) == sentences
    assert sum(len(document.words or ()) for document in whole) == words


def test_litbank_in_both_forms(data: Path) -> None:
    """A mention has an antecedent if an earlier mention has the same COREF cluster; COP and APPOS rows make none."""
    conll = list(Corpus.of(data / "coreference" / "litbank" / "conll"))
    tsv = list(Corpus.of(data / "coreference" / "litbank" / "tsv"))
    assert len(conll) == len(tsv) == 100
    mentions = [mention for document in tsv for mention in document.mentions or ()]
    assert len(mentions) == sum(len(document.mentions or ()) for document in conll) == 29_103
    second = []
    for document in tsv:
        seen: set[str] = set()
        for mention in in_order(document.mentions or ()):
            second += [mention] if mention.cluster in seen else []
            seen.add(mention.cluster)
    assert Counter(mention.kind for mention in second) == {"PRON": 15_111, "NOM": 3_571, "PROP": 2_494}
    different = []
    for one, other in zip(conll, tsv, strict=True):
        assert one.words == other.words
        assert one.sentences == other.sentences
        if clusters(one) != clusters(other):
            different.append(one.name)
    assert different == ["(1400_great_expectations_brat); part 0"], "LitBank's own files disagree there"


def clusters(document: Document) -> set[frozenset[tuple[int, int]]]:
    """The clusters whatever their names."""
    spans: dict[str, set[tuple[int, int]]] = {}
    for mention in document.mentions or ():
        spans.setdefault(mention.cluster, set()).add((mention.start, mention.stop))
    return set(map(frozenset, spans.values()))


@pytest.mark.parametrize("format", ["lines", "paragraphs"])
def test_wikitext(data: Path, format: str) -> None:
    documents = list(Corpus.from_files(data / "text" / "wikitext2-raw-test.txt", format=format, keep_marks=True))
    assert sum(len((document.text or "").split()) for document in documents) == 241_211
    assert sum(heading_level(document.text or "") == 1 for document in documents) == 62


def test_wikitext_in_pairs(data: Path) -> None:
    path = data / "text" / "wikitext2-raw-test.txt"
    headings = [document for document in Corpus.of(path, keep_marks=True) if heading_level(document.text or "")]
    documents = list(Corpus.from_files(path, format="paragraph-pairs", keep_marks=True))
    in_headings = sum(len((document.text or "").split()) for document in headings)
    in_pairs = sum(len(f"{document.text} {document.pair or ''}".split()) for document in documents)
    assert in_pairs + in_headings == 241_211, "every word is in a pair or in a heading"
    assert sum(document.pair is None for document in documents) == 1, "one article has one paragraph"
