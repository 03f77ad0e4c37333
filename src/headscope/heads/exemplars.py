"""Exemplars that people can read: the texts behind an `exemplars` table, both tokens marked (vig2019, tables 1 to 3)."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from headscope.lens.lens import Lens
from headscope.statistics.exemplars import document_number
from headscope.text import Document

SHOWN = 5  # texts a head
ALIKE = 0.7  # two texts are near-duplicates when they share so many of their words

HEAD = ["stack", "kind", "layer", "head"]


def readable(table: pd.DataFrame, documents: Iterable[Document], lens: Lens, shown: int = SHOWN) -> pd.DataFrame:
    """The best texts of every head, without near-duplicates: score, attending and attended token, and the marked text.

    In `text` the attending token is **bold** and the attended one *italic*, as in the paper. `documents` are those that
    were counted; those that the table does not name are passed over.
    """
    wanted = set(table["document"])
    texts = {number: document for document in documents if (number := document_number(document)) in wanted}
    tokens = {number: _Pieces(lens, document) for number, document in texts.items()}
    rows = []
    for _, of_head in table.groupby(HEAD, sort=False, dropna=False):
        chosen: list[set[str]] = []
        for row in of_head.sort_values("rank").to_dict("records"):
            pieces = tokens.get(row["document"])
            if pieces is None or any(_alike(pieces.vocabulary, other) for other in chosen):
                continue
            chosen.append(pieces.vocabulary)
            attending, attended = int(row["row"]), int(row["key"])
            rows.append(
                {
                    **{name: row[name] for name in (*HEAD, "score")},
                    "rank": len(chosen),
                    "attending": pieces.label(attending),
                    "attended": pieces.label(attended),
                    "text": pieces.marked(attending, attended),
                    "source": pieces.name,
                }
            )
            if len(chosen) == shown:
                break
    columns = [*HEAD, "rank", "score", "attending", "attended", "text", "source"]
    return pd.DataFrame(rows, columns=columns).astype({"layer": "Int64", "head": "Int64"})


def _alike(one: set[str], other: set[str]) -> bool:
    return len(one & other) >= ALIKE * len(one | other)


class _Pieces:
    """A text as its tokenizer cuts it."""

    def __init__(self, lens: Lens, document: Document) -> None:
        source = lens.encode(document, truncate=True).source
        self.name = document.name
        self.spans = source.spans
        self.segments = source.segments
        self.texts = [document.text_and_spans()[0] if document.text is None else document.text, document.pair or ""]
        self.vocabulary = {word.lower() for word in source.words}

    def label(self, token: int) -> str:
        """The token as it stands in the text."""
        start, stop = self.spans[token]
        return self.texts[self.segments[token]][start:stop].strip()

    def marked(self, row: int, key: int) -> str:
        """The text with the **attending** and the *attended* token.

        A span may begin with the space before its token; the mark goes behind it.
        """
        texts = list(self.texts)
        marks = {row: "**", key: "*"} if row != key else {row: "***"}
        for token in sorted(marks, key=lambda place: self.spans[place], reverse=True):  # so that spans before it stay right
            start, stop = self.spans[token]
            text = texts[self.segments[token]]
            start += len(text[start:stop]) - len(text[start:stop].lstrip())
            texts[self.segments[token]] = f"{text[:start]}{marks[token]}{text[start:stop]}{marks[token]}{text[stop:]}"
        return " ".join(" ".join(texts).split())
