"""Texts of the run's corpus that excite a head, as parts of plain text: the attending and the attended token are marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headscope.errors import InputError
from headscope.heads.exemplars import exemplars_of_head
from headscope.later import pd
from headscope.lens import AS_WRITTEN, BY_WORD, AttentionBlock, Lens
from headscope.lens.tokens.encoding import Encoded
from headscope.report.heads.exemplars import exemplar
from headscope.report.schema import Exemplar
from headscope.server.queue import Check
from headscope.statistics.exemplars import Exemplars, document_number
from headscope.statistics.surface.null_attention import is_decoder_only
from headscope.text import Document

BATCH = 8
AROUND = 240  # characters of a long text that are shown before the first mark and behind the last
Texts = dict[int, Document]


def counted_now(
    lens: Lens, documents: Iterable[Document], measure: str, most_documents: int, most_tokens: int, check: Check
) -> tuple[pd.DataFrame, Texts]:
    """The exemplars of every head among the first documents of a corpus, and these documents."""
    statistic = Exemplars(measure=measure, without_first=is_decoder_only(lens.sites)).start(lens.sites)

    def receive(block: AttentionBlock) -> None:
        check()
        statistic.update(block)

    chosen = list(_first(lens, documents, most_documents, most_tokens, check))
    chosen.sort(key=lambda encoded: len(encoded.source))  # little padding
    for start in range(0, len(chosen), BATCH):
        lens.run(lens.encoder.collate(chosen[start : start + BATCH]), receive)
    return statistic.table(), {document_number(encoded.document): encoded.document for encoded in chosen}


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


def marked(table: pd.DataFrame, texts: Texts, lens: Lens, *, by_word: bool = False) -> list[Exemplar]:
    """The best of one head's rows whose texts are there, without near-duplicates."""

    def text_of(number: int) -> Encoded | None:
        encoding = BY_WORD if by_word else AS_WRITTEN
        return lens.encoder.encode(texts[number], truncate=True, encoding=encoding) if number in texts else None

    return [exemplar(row, AROUND) for row in exemplars_of_head(table, text_of)]


def _first(
    lens: Lens, documents: Iterable[Document], most_documents: int, most_tokens: int, check: Check
) -> Iterator[Encoded]:
    tokens = count = 0
    has_target: bool | None = None
    for document in documents:
        check()
        try:
            encoded = lens.encoder.encode(document, max_tokens=most_tokens, truncate=True)
        except InputError:  # no token in it, or a target that this model does not take
            continue
        has_target = encoded.target is not None if has_target is None else has_target
        if (encoded.target is not None) != has_target:
            continue
        tokens, count = tokens + len(encoded.source) + len(encoded.target or ()), count + 1
        if count > most_documents or (count > 1 and tokens > most_tokens):
            return
        yield encoded
