"""Texts of the run's corpus that excite a head, as parts of plain text: the attending and the attended token are marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pandas as pd

from headscope.errors import InputError
from headscope.heads.exemplars import ALIKE, SHOWN
from headscope.lens import Lens
from headscope.lens.block import AttentionBlock
from headscope.lens.encoding import TokenSequence
from headscope.lens.lens import Encoded
from headscope.server.queue import Check
from headscope.server.schemas import Exemplar, MarkedText
from headscope.statistics.exemplars import Exemplars, document_number
from headscope.text import Document
from headscope.views.labels import readable

BATCH = 8
AROUND = 240  # characters of a long text that are shown before the first mark and behind the last
Texts = dict[int, Document]


def counted_now(
    lens: Lens, documents: Iterable[Document], measure: str, most_documents: int, most_tokens: int, check: Check
) -> tuple[pd.DataFrame, Texts]:
    """The exemplars of every head among the first documents of a corpus, and these documents."""
    statistic = Exemplars(measure=measure).start(lens.sites)

    def receive(block: AttentionBlock) -> None:
        check()
        statistic.update(block)

    texts: Texts = {}
    chosen = list(_first(lens, documents, most_documents, most_tokens, check))
    chosen.sort(key=lambda encoded: len(encoded.source))  # little padding
    for start in range(0, len(chosen), BATCH):
        some = chosen[start : start + BATCH]
        texts.update((document_number(encoded.document), encoded.document) for encoded in some)
        lens.run(lens.collate(some), receive)
    return statistic.table(), texts


def find(documents: Iterable[Document], wanted: Iterable[int], check: Check) -> Texts:
    """The documents of these numbers."""
    missing, found = set(wanted), {}
    for document in documents:
        check()
        number = document_number(document)
        if number in missing:
            found[number] = document
            missing.discard(number)
            if not missing:
                break
    return found


def marked(table: pd.DataFrame, texts: Texts, lens: Lens, *, by_word: bool = False, shown: int = SHOWN) -> list[Exemplar]:
    """The best of one head's rows whose texts are there, without near-duplicates."""
    chosen: list[set[str]] = []
    exemplars = []
    for row in table.sort_values("rank").to_dict("records"):
        document = texts.get(row["document"])
        if document is None:
            continue
        encoded = lens.encode(document, truncate=True, by_word=by_word)
        vocabulary = {word.lower() for word in encoded.source.words}
        if any(len(vocabulary & other) >= ALIKE * len(vocabulary | other) for other in chosen):
            continue
        chosen.append(vocabulary)
        exemplars.append(_exemplar(row, encoded, lens))
        if len(exemplars) == shown:
            break
    return exemplars


def _first(
    lens: Lens, documents: Iterable[Document], most_documents: int, most_tokens: int, check: Check
) -> Iterator[Encoded]:
    tokens = count = 0
    has_target: bool | None = None
    for document in documents:
        check()
        try:
            encoded = lens.encode(document, limit=most_tokens, truncate=True)
        except InputError:  # no token in it, or a target that this model does not take
            continue
        has_target = encoded.target is not None if has_target is None else has_target
        if (encoded.target is not None) != has_target:
            continue
        tokens, count = tokens + len(encoded.source) + len(encoded.target or ()), count + 1
        if count > most_documents or (count > 1 and tokens > most_tokens):
            return
        yield encoded


def _exemplar(row: dict[str, Any], encoded: Encoded, lens: Lens) -> Exemplar:
    source, target = _pieces(encoded.document, encoded.source), None
    if lens.is_encoder_decoder and row["stack"] == "decoder" and encoded.target is not None:
        target = _tokens(encoded.target)
    attending, attended = target or source, (target if row["kind"] == "self" else None) or source
    at, to = int(row["row"]), int(row["key"])
    if attending is attended:
        runs = _runs(attending, {at: "attending", to: "attended"} if at != to else {at: "both"})
    else:
        runs = [*_runs(attending, {at: "attending"}), MarkedText(text=" ← ", mark=None), *_runs(attended, {to: "attended"})]
    return Exemplar(
        score=float(row["score"]),
        attending=_label(attending, at),
        attended=_label(attended, to),
        source=encoded.document.name.rpartition("/")[2],
        runs=runs,
    )


Pieces = tuple[str, Sequence[tuple[int, int]]]  # a text, and the span of every token in it


def _pieces(document: Document, sequence: TokenSequence) -> Pieces:
    """The text as it is written, both parts of a pair in one line."""
    if not sequence.spans:
        return _tokens(sequence)
    first = document.text if document.text is not None else document.text_and_spans()[0]
    second = document.pair or " ".join(document.pair_words or ())
    moved = [len(first) + 1 if segment else 0 for segment in sequence.segments]
    spans = [(start + by, stop + by) for (start, stop), by in zip(sequence.spans, moved, strict=True)]
    return f"{first} {second}" if second else first, spans


def _tokens(sequence: TokenSequence) -> Pieces:
    """Tokens whose places in a text are not known, with a space between any two."""
    text, spans = "", []
    for token in readable(sequence.tokens):
        text += " " if text else ""
        spans.append((len(text), len(text) + len(token)))
        text += token
    return text, spans


def _span(pieces: Pieces, token: int) -> tuple[int, int]:
    """Without the space that some tokens begin with."""
    text, spans = pieces
    start, stop = spans[token]
    return start + len(text[start:stop]) - len(text[start:stop].lstrip()), stop


def _label(pieces: Pieces, token: int) -> str:
    start, stop = _span(pieces, token)
    return pieces[0][start:stop]


def _runs(pieces: Pieces, marks: dict[int, str]) -> list[MarkedText]:
    """The text cut at its marked tokens; what is far from them is left out."""
    text = pieces[0]
    places = sorted((*_span(pieces, token), mark) for token, mark in marks.items())
    begin, end = max(0, places[0][0] - AROUND), min(len(text), places[-1][1] + AROUND)
    runs: list[dict[str, Any]] = [{"text": "… ", "mark": None}] if begin else []
    for start, stop, mark in places:
        start = max(start, begin)  # pieces of one character may overlap
        runs += [{"text": text[begin:start], "mark": None}, {"text": text[start:stop], "mark": mark}]
        begin = max(begin, stop)
    runs += [{"text": text[begin:end], "mark": None}, {"text": " …" if end < len(text) else "", "mark": None}]
    return [MarkedText.model_validate(run) for run in runs if run["text"]]
