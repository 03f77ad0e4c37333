"""The demo's text makes documents like those of kobayashi2020: two paragraphs, at most 128 tokens."""

import pytest

from headscope.demo.text import count_sentences, paragraph_pairs, text
from headscope.lens import Lens


def test_every_word_of_the_text_is_in_one_document() -> None:
    documents = paragraph_pairs(text())
    read = [word for document in documents for word in f"{document.text} {document.pair}".split()]
    assert read == text().split()


def test_sentences_end_where_a_reader_would_say() -> None:
    assert count_sentences('"Go," he said. "Now!"\n\nShe went at 3.15.') == 3
    assert 60 <= count_sentences(text()) <= 100


@pytest.mark.real
def test_documents_fit_into_128_tokens(lens: Lens) -> None:
    batch = lens.encoder.batch(paragraph_pairs(text()))
    assert all(len(sequence) <= 128 for sequence in batch.sources)
    assert all(sequence.tokens.count("[SEP]") == 2 for sequence in batch.sources)
