"""One shard through the lens: batches of similar length, every statistic updated from every block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from headscope.errors import InputError
from headscope.lens.block import AttentionBlock
from headscope.lens.lens import Lens
from headscope.lens.score_block import ScoreBlock
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import Encoded
from headscope.lens.tokens.losses import own_loss
from headscope.lens.tokens.prompts import Prompt
from headscope.lens.word_blocks import WordRows
from headscope.statistics.base import Statistic
from headscope.text import Document


@dataclass(frozen=True)
class BatchSettings:
    """How documents are fed to the model."""

    batch_size: int = 16
    limit: int | None = None
    truncate: bool = False
    on_error: str = "stop"
    by_word: bool = False  # each word is tokenised by itself
    prompt: str | None = None  # a template that holds a document's words and target words, for a decoder


@dataclass
class ShardCounts:
    """What a shard has come to."""

    statistics: list[Statistic]
    counts: dict[str, int]


def count(lens: Lens, documents: Sequence[Document], statistics: Sequence[Statistic], feed: BatchSettings) -> ShardCounts:
    """Fresh statistics over some documents. Depends on nothing but the documents and the settings."""
    started = [statistic.start(lens.sites) for statistic in statistics]
    needed = {layer: statistic.name for statistic in statistics for layer in statistic.needs}
    encoded, skipped = _encode(lens, documents, feed, needed)
    for batch in _batches(lens, encoded, feed.batch_size):
        update(lens, batch, started)
    tokens = sum(len(item.source) for item in encoded)
    return ShardCounts(started, {"documents": len(encoded), "tokens": tokens, "skipped": skipped})


def update(lens: Lens, batch: Batch, statistics: Sequence[Statistic]) -> None:
    """Update every statistic from every block of one batch: one pass for most, another for those of gradients."""
    backward = [statistic for statistic in statistics if statistic.gradients]
    forward = [statistic for statistic in statistics if not statistic.gradients]
    if forward:
        _run(lens, batch, forward)
    for seed in dict.fromkeys(statistic.settings()["seed"] for statistic in backward):
        those = [statistic for statistic in backward if statistic.settings()["seed"] == seed]
        lens.run_gradients(batch, _into(those), loss=own_loss(lens, seed))


def _run(lens: Lens, batch: Batch, statistics: Sequence[Statistic]) -> None:
    in_tokens = [statistic for statistic in statistics if statistic.level == "token"]
    in_words = [statistic for statistic in statistics if statistic.level == "word"]
    words = WordRows(sorted({statistic.measure for statistic in in_words}), _into(in_words))

    tokens = _into(in_tokens)

    def receive(block: AttentionBlock) -> None:
        tokens(block)
        if in_words:
            words(block)

    lens.run(batch, receive)


def _into(statistics: Sequence[Statistic]) -> Callable[[ScoreBlock], None]:
    def update(block: ScoreBlock) -> None:
        for statistic in statistics:
            statistic.update(block)

    return update


def _encode(
    lens: Lens, documents: Sequence[Document], feed: BatchSettings, needed: dict[str, str]
) -> tuple[list[Encoded], int]:
    encoded, skipped = [], 0
    for document in documents:
        try:
            _check_layers(document, needed)
            encoded.append(_encode_one(lens, document, feed))
        except InputError as error:
            if feed.on_error == "stop":
                raise InputError(f"{document.name or 'A document'}: {error}") from error
            skipped += 1
    return encoded, skipped


def _encode_one(lens: Lens, document: Document, feed: BatchSettings) -> Encoded:
    if feed.prompt is not None:
        return Prompt(feed.prompt).encode(lens.tokenizer, document, lens.limit)
    return lens.encode(document, limit=feed.limit, truncate=feed.truncate, by_word=feed.by_word)


def _check_layers(document: Document, needed: dict[str, str]) -> None:
    """`needed` says which statistic needs a layer."""
    for layer, statistic in needed.items():
        if getattr(document, layer) is None:
            raise InputError(
                f"{statistic} needs {layer}, which this document does not have; "
                "give a corpus that is annotated with them, or annotate it (--annotate spacy:PIPELINE)."
            )


def _batches(lens: Lens, encoded: Sequence[Encoded], size: int) -> Iterator[Batch]:
    """Texts of similar length together, so that little is padding; ties in their own order."""
    order = sorted(range(len(encoded)), key=lambda index: len(encoded[index].source))
    for start in range(0, len(order), size):
        yield lens.collate([encoded[index] for index in order[start : start + size]])
