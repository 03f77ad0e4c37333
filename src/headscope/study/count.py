"""Some documents through the lens: batches of similar length, every statistic updated from every block."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from headscope.errors import InputError
from headscope.lens.block import AttentionBlock
from headscope.lens.lens import Lens
from headscope.lens.score_block import ScoreBlock
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoder import AS_WRITTEN, Encoder, Encoding
from headscope.lens.tokens.encoding import Encoded
from headscope.lens.tokens.losses import own_loss
from headscope.lens.word_blocks import WordRows
from headscope.statistics.base import Statistic
from headscope.text import Document
from headscope.text.corpus import OnError


@dataclass(frozen=True)
class BatchSettings:
    """How documents are fed to the model."""

    batch_size: int = 16
    max_tokens: int | None = None
    truncate: bool = False
    on_error: OnError = "stop"
    encoding: Encoding = AS_WRITTEN

    def describe(self) -> dict[str, Any]:
        """What a manifest says of them."""
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "encoding"}
        return own | self.encoding.describe()


def count(
    lens: Lens, encoded: Sequence[Encoded], statistics: Sequence[Statistic], settings: BatchSettings
) -> dict[str, int]:
    """Add some documents to statistics that are started, and say how many they are."""
    together = 1 if any(statistic.one_text for statistic in statistics) else settings.batch_size
    for batch in batches_of(lens.encoder, encoded, together):
        update(lens, batch, statistics)
    tokens = sum(len(item.source) for item in encoded)
    return {"documents": len(encoded), "tokens": tokens}


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
    tokens, asked = _into(in_tokens), frozenset(statistic.measure for statistic in in_tokens)

    def receive(block: AttentionBlock) -> None:
        block.asked = asked
        tokens(block)
        if in_words:
            words(block)

    lens.run(batch, receive)


def _into(statistics: Sequence[Statistic]) -> Callable[[ScoreBlock], None]:
    def update(block: ScoreBlock) -> None:
        for statistic in statistics:
            statistic.update(block)

    return update


def encode_all(
    encoder: Encoder, documents: Sequence[Document], settings: BatchSettings, needed: Mapping[str, str]
) -> tuple[list[Encoded], int]:
    """The documents as tokens, and how many were skipped; `needed` says which statistic needs a layer of them."""
    cut: Any = {"max_tokens": settings.max_tokens, "truncate": settings.truncate}
    encoded, skipped = [], 0
    for document in documents:
        try:
            _check_layers(document, needed)
            encoded.append(encoder.encode(document, encoding=settings.encoding, **cut))
        except InputError as error:
            if settings.on_error == "stop":
                raise InputError(f"{document.name or 'A document'}: {error}") from error
            skipped += 1
    return encoded, skipped


_ANNOTATED = "a treebank (CoNLL-U), or a plain text that is annotated (headscope study --annotate spacy:PIPELINE)"
_WITH = {
    "mentions": "a corpus that has coreference: CoNLL-2012, OntoGUM, LitBank, or CoNLL-U with entities (CorefUD)",
    "alignment": "sentence pairs with gold links (headscope.alignment.with_gold)",
}


def _check_layers(document: Document, needed: Mapping[str, str]) -> None:
    for layer, statistic in needed.items():
        if getattr(document, layer) is None:
            raise InputError(
                f"{statistic} needs {layer}, which this document does not have; give {_WITH.get(layer, _ANNOTATED)}."
            )


def batches_of(encoder: Encoder, encoded: Sequence[Encoded], size: int) -> Iterator[Batch]:
    """Texts of similar length together, so that little is padding: none over twice another's; ties in their own order."""
    together: list[Encoded] = []
    for one in sorted(encoded, key=lambda item: len(item.source)):
        if together and (len(together) == size or len(one.source) > 2 * len(together[0].source)):
            yield encoder.collate(together)
            together = []
        together.append(one)
    if together:
        yield encoder.collate(together)
