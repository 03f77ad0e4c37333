"""The demo's text, and the documents made of it: two paragraphs each, as kobayashi2020 (section 4) feeds BERT."""

from __future__ import annotations

import re
from importlib.resources import files

from headscope.text import Document

TITLE = "The clock at Saint Orrin"
_SENTENCE_END = re.compile(r'[.!?]"?(?=\s+["A-Z]|\s*$)')


def text() -> str:
    return files(__package__).joinpath("text.txt").read_text(encoding="utf-8")


def paragraph_pairs(text: str) -> list[Document]:
    """`[CLS] paragraph [SEP] next paragraph [SEP]`; every paragraph is in one document.

    >>> [(document.text, document.pair) for document in paragraph_pairs("a\\n\\nb\\n\\nc\\n\\nd")]
    [('a', 'b'), ('c', 'd')]
    """
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return [Document(one, pair=other) for one, other in zip(paragraphs[::2], paragraphs[1::2], strict=True)]


def count_sentences(text: str) -> int:
    """
    >>> count_sentences('He paid 3.50. "Why," she asked, "so much?" Nobody knew.')
    3
    """
    return len(_SENTENCE_END.findall(text))
