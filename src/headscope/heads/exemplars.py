"""Exemplars that people can read: the texts behind an `exemplars` table, both tokens marked (vig2019, tables 1 to 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pandas as pd

from headscope.lens.head import HEAD
from headscope.lens.lens import Lens
from headscope.lens.tokens.encoding import Encoded
from headscope.lens.tokens.pieces import Pieces, sides
from headscope.statistics.exemplars import document_number
from headscope.text import Document

SHOWN = 5  # texts a head
ALIKE = 0.7  # two texts are near-duplicates when they share so many of their words
LOOKS_AT = " ← "  # between a target and the source that it looks at


def readable(table: pd.DataFrame, documents: Iterable[Document], lens: Lens, shown: int = SHOWN) -> pd.DataFrame:
    """The best texts of every head, without near-duplicates: score, attending and attended token, and the marked text.

    In `text` the attending token is **bold** and the attended one *italic*, as in the paper; of cross attention, the target
    stands before the source. `documents` are those that were counted; those that the table does not name are passed over.
    """
    wanted = set(table["document"])
    texts = {
        number: lens.encoder.encode(document, truncate=True)
        for document in documents
        if (number := document_number(document)) in wanted
    }
    rows = []
    for _, of_head in table.groupby(HEAD, sort=False, dropna=False):
        for rank, (row, encoded) in enumerate(best(of_head, texts.get, shown), 1):
            attending, attended = sides(encoded, row["stack"], row["kind"])
            at, to = int(row["row"]), int(row["key"])
            rows.append(
                {
                    **{name: row[name] for name in (*HEAD, "score")},
                    "rank": rank,
                    "attending": attending.label(at),
                    "attended": attended.label(to),
                    "text": marked(attending, attended, at, to),
                    "source": encoded.document.name,
                }
            )
    columns = [*HEAD, "rank", "score", "attending", "attended", "text", "source"]
    return pd.DataFrame(rows, columns=columns).astype({"layer": "Int64", "head": "Int64"})


def best(
    of_head: pd.DataFrame, text_of: Callable[[int], Encoded | None], shown: int = SHOWN
) -> Iterator[tuple[dict[str, Any], Encoded]]:
    """The first rows of one head whose texts are there, each with its text, without near-duplicates."""
    chosen: list[set[str]] = []
    for row in of_head.sort_values("rank").to_dict("records"):
        encoded = text_of(row["document"])
        if encoded is None:
            continue
        vocabulary = {word.lower() for word in encoded.source.words}
        if any(len(vocabulary & other) >= ALIKE * len(vocabulary | other) for other in chosen):
            continue
        chosen.append(vocabulary)
        yield row, encoded
        if len(chosen) == shown:
            return


def marked(attending: Pieces, attended: Pieces, row: int, key: int) -> str:
    """The text with the **attending** and the *attended* token.

    >>> source = Pieces("it saw her", [(0, 2), (2, 6), (6, 10)])
    >>> marked(source, source, 2, 0), marked(source, source, 0, 0)
    ('*it* saw **her**', '***it*** saw her')
    >>> marked(Pieces("elle", [(0, 4)]), source, 0, 2)
    '**elle** ← it saw *her*'
    """
    if attending is not attended:
        return f"{_with_marks(attending, {row: '**'})}{LOOKS_AT}{_with_marks(attended, {key: '*'})}"
    return _with_marks(attending, {row: "**", key: "*"} if row != key else {row: "***"})


def _with_marks(pieces: Pieces, marks: dict[int, str]) -> str:
    text = pieces.text
    for token in sorted(marks, key=pieces.span, reverse=True):  # so that spans before it stay right
        start, stop = pieces.span(token)
        text = f"{text[:start]}{marks[token]}{text[start:stop]}{marks[token]}{text[stop:]}"
    return " ".join(text.split())
