"""Exemplars that people can read: the texts behind an `exemplars` table and both tokens' spans (vig2019, tables 1 to 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from headscope.errors import InputError
from headscope.heads.exemplar_scores import NAME as SCORES
from headscope.heads.exemplar_scores import exemplar_scores
from headscope.heads.exemplar_writes import NAME as WRITES
from headscope.heads.exemplar_writes import can_write, exemplar_writes
from headscope.later import pd
from headscope.lens.head import HEAD, Head
from headscope.lens.lens import Lens
from headscope.lens.tokens.encoder import AS_WRITTEN, BY_WORD, Encoding
from headscope.lens.tokens.encoding import Encoded
from headscope.lens.tokens.pieces import Pieces, sides
from headscope.statistics.exemplars import document_number
from headscope.statistics.table_names import parse
from headscope.study.run import Run
from headscope.text import Document

NAME = "exemplars_readable"  # of the table in a run directory
SHOWN = 5  # texts a head
ALIKE = 0.7  # two texts are near-duplicates when they share so many of their words
LOOKS_AT = " ← "  # between a target and the source that it looks at
SPANS = ["attending_start", "attending_stop", "attended_start", "attended_stop"]
COLUMNS = [*HEAD, "rank", "score", "attending", "attended", "text", "attended_text", *SPANS, "source"]


def readable(
    table: pd.DataFrame,
    documents: Iterable[Document],
    lens: Lens,
    shown: int = SHOWN,
    encoding: Encoding = AS_WRITTEN,
) -> pd.DataFrame:
    """The best texts of every head, without near-duplicates: score, both tokens, the text, and the span of each token in it.

    `attended_text` is empty but for cross attention: there the attended token stands in it, the attending one in `text`.
    `documents` are those that were counted, by the same `encoding`; those that the table does not name are passed over.
    """
    texts = _texts(table, documents, lens, encoding)
    return _frame(_rows(table, texts, shown))


def _texts(
    table: pd.DataFrame, documents: Iterable[Document], lens: Lens, encoding: Encoding, max_tokens: int | None = None
) -> dict[int, Encoded]:
    """The texts that a table names, as they were counted."""
    wanted = set(table["document"])
    return {
        number: lens.encoder.encode(document, max_tokens=max_tokens, truncate=True, encoding=encoding)
        for document in documents
        if (number := document_number(document)) in wanted
    }


def _rows(table: pd.DataFrame, texts: Mapping[int, Encoded], shown: int = SHOWN) -> list[dict[str, Any]]:
    groups = table.groupby(HEAD, sort=False, dropna=False)
    return [row for _, of_head in groups for row in exemplars_of_head(of_head, texts.get, shown)]


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS).astype({"layer": "Int64", "head": "Int64"})


def exemplars_of_head(
    of_head: pd.DataFrame, text_of: Callable[[int], Encoded | None], shown: int = SHOWN
) -> Iterator[dict[str, Any]]:
    """A row for each of the first of one head whose texts are there, without near-duplicates."""
    chosen: list[set[str]] = []
    for row in of_head.sort_values("rank").to_dict("records"):
        encoded = text_of(row["document"])
        if encoded is None:
            continue
        vocabulary = {word.lower() for word in encoded.source.words}
        if any(len(vocabulary & other) >= ALIKE * len(vocabulary | other) for other in chosen):
            continue
        chosen.append(vocabulary)
        yield {**row, "rank": len(chosen), **_pair(row, encoded)}
        if len(chosen) == shown:
            return


def _pair(row: Mapping[str, Any], encoded: Encoded) -> dict[str, Any]:
    attending, attended = sides(encoded, row["stack"], row["kind"])
    at, to = int(row["row"]), int(row["key"])
    text, *spans = in_one_line(attending, at)
    other, *other_spans = in_one_line(attended, to)
    return {
        "attending": attending.label(at),
        "attended": attended.label(to),
        "text": text,
        "attended_text": "" if attending is attended else other,
        **dict(zip(SPANS, [*spans, *other_spans], strict=True)),
        "source": encoded.document.name,
    }


def in_one_line(pieces: Pieces, token: int) -> tuple[str, int, int]:
    """A text with single spaces, and where a token starts and stops in it.

    >>> in_one_line(Pieces("it\\n saw  her ", [(0, 2), (2, 7), (7, 12)]), 2)
    ('it saw her', 7, 10)
    """
    text = pieces.text
    start, stop = pieces.span(token)
    line = " ".join(text.split())
    before = " ".join(text[:start].split())
    begin = min(len(before) + bool(before and text[:start][-1].isspace()), len(line))
    return line, begin, begin + len(" ".join(text[start:stop].split()))


def in_markdown(row: Mapping[str, Any]) -> str:
    """The text of an exemplar, the attending token **bold**, the attended one *italic*, as in the paper; a target first.

    >>> row = dict(zip(["text", "attended_text", *SPANS], ["it saw her", "", 7, 10, 0, 2]))
    >>> in_markdown(row)
    '*it* saw **her**'
    """
    bold, italic = ((row[f"{end}_start"], row[f"{end}_stop"]) for end in ("attending", "attended"))
    if row["attended_text"]:
        return f"{_with_marks(row['text'], {bold: '**'})}{LOOKS_AT}{_with_marks(row['attended_text'], {italic: '*'})}"
    return _with_marks(row["text"], {bold: "**", italic: "*"} if bold != italic else {bold: "***"})


def _with_marks(text: str, marks: Mapping[tuple[int, int], str]) -> str:
    for start, stop in sorted(marks, reverse=True):  # so that spans before it stay right
        mark = marks[start, stop]
        text = f"{text[:start]}{mark}{text[start:stop]}{mark}{text[stop:]}"
    return text


def add_exemplars(lens: Lens, run: Run | str | Path, documents: Iterable[Document]) -> pd.DataFrame:
    """The texts of a run's `exemplars`, found again among the documents that it read, kept among its tables.

    With them, all that each head does in one of them (`exemplar_scores`), and the tokens that it makes more and less likely
    there (`exemplar_writes`): the model reads these texts once more.
    """
    run = Run.open(run)
    names = [name for name in run if name.startswith("exemplars") and name != NAME]
    if not names:
        raise InputError(f"{run.folder} has counted no exemplars: run the study with -s exemplars.")
    settings, counted = run.manifest["settings"], run[names[0]]
    encoding = BY_WORD if settings.get("by_word") else AS_WRITTEN
    texts = _texts(counted, documents, lens, encoding, settings.get("max_tokens"))
    rows = _rows(counted, texts)
    of_heads, name = [row for row in rows if row["head"] is not pd.NA], parse(names[0])  # joint measures have no heads
    scores = exemplar_scores(lens, of_heads, texts, name.measure if name else "weight")
    run.add(SCORES, scores)
    drawn = {(Head.of(row), row["rank"]) for row in scores[scores["pair"]].to_dict("records")}
    if can_write(lens):
        writes = exemplar_writes(lens, [row for row in of_heads if (Head.of(row), row["rank"]) in drawn], texts)
        if writes is not None:
            run.add(WRITES, writes)
    table = _frame(rows)
    run.add(NAME, table)
    return table


def readable_tables(run: Run) -> list[str]:
    """The tables of a run that have exemplars with their texts, a study's or a paper's."""
    return [name for name in run if set(run[name].columns) >= set(COLUMNS)]
