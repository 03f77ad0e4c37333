"""Encoder: from documents to the batches that one model reads."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from headscope.errors import InputError
from headscope.later import PreTrainedModel, torch
from headscope.lens.placement import device_of
from headscope.lens.tokens.batch import Batch, pad
from headscope.lens.tokens.encoding import Encoded, Segment, TokenSequence, encode, length_limit, segments_of
from headscope.lens.tokens.word_encoding import encode_words
from headscope.text.document import Document


class Encoding(Protocol):
    """A way from a document to tokens. Plain data, so that a study can send it to other processes."""

    def encode(self, encoder: Encoder, document: Document, max_tokens: int | None, truncate: bool) -> Encoded: ...

    def describe(self) -> dict[str, Any]:
        """What a manifest says of it."""
        ...


@dataclass(frozen=True)
class AsWritten:
    """Texts as they are written, or a document's words joined; a piece's word is found by where it stands.

    `by_word` tokenises each word of a document, and of its target, by itself: for alignments of words, and for treebanks
    where a word is to be what the treebank has (`did` `n't`, not `didn't`), as the papers' code reads them.
    """

    by_word: bool = False

    def encode(self, encoder: Encoder, document: Document, max_tokens: int | None, truncate: bool) -> Encoded:
        tokenizer = encoder.tokenizer
        cut: Any = {"max_tokens": max_tokens, "truncate": truncate}
        if self.by_word and document.words is not None:
            source = encode_words(tokenizer, document.words, **cut)
        else:
            source = encode(tokenizer, segments_of(document), **cut)
        if document.target is None and document.target_words is None:
            return Encoded(document, source)
        encoder.check_target()
        if self.by_word and document.target_words is not None:
            labels = encode_words(tokenizer, document.target_words, target=True, **cut)
        else:
            labels = encode(tokenizer, [Segment.of(document.target, document.target_words)], target=True, **cut)
        return Encoded(document, source, encoder.shifted(labels))

    def describe(self) -> dict[str, Any]:
        return {"by_word": True} if self.by_word else {}


AS_WRITTEN, BY_WORD = AsWritten(), AsWritten(by_word=True)


@dataclass
class Encoder:
    """What a model's tokenizer makes of documents, padded for the model. Made by a lens."""

    name: str  # the model's, for messages
    model: PreTrainedModel
    tokenizer: Any
    accepted: set[str]  # what the model's forward pass takes

    @property
    def max_tokens(self) -> int | None:
        """How many tokens the model reads at most; None where nothing limits it."""
        return length_limit(self.model.config, self.tokenizer)

    def encode(
        self, document: Document, *, max_tokens: int | None = None, truncate: bool = False, encoding: Encoding = AS_WRITTEN
    ) -> Encoded:
        """One document as tokens; `max_tokens` lowers the model's own limit."""
        if self.tokenizer is None:
            raise InputError("This lens has no tokenizer: open it with headscope.open(model, tokenizer).")
        most = min(filter(None, (max_tokens, self.max_tokens)), default=None)
        return encoding.encode(self, document, most, truncate)

    def batch(
        self,
        documents: Sequence[Any],
        *,
        max_tokens: int | None = None,
        truncate: bool = False,
        encoding: Encoding = AS_WRITTEN,
    ) -> Batch:
        """Strings, pairs, lists of words or Documents as one padded batch on the model's device."""
        how: Any = {"max_tokens": max_tokens, "truncate": truncate, "encoding": encoding}
        return self.collate([self.encode(Document.of(document), **how) for document in documents])

    def collate(self, encoded: Sequence[Encoded]) -> Batch:
        """Encoded documents side by side, padded on the right."""
        sources = [item.source for item in encoded]
        targets = [item.target for item in encoded if item.target is not None]
        if targets and len(targets) != len(encoded):
            raise InputError("Some documents of this batch have a target and some have none: give all or none.")
        inputs = self._padded(sources)
        if "token_type_ids" in self.accepted and any(any(source.segments) for source in sources):
            inputs["token_type_ids"] = pad([source.segments for source in sources], 0, device_of(self.model))
        if targets:
            inputs |= {f"decoder_{name}": tensor for name, tensor in self._padded(targets).items()}
        return Batch(inputs, sources, targets, [item.document for item in encoded])

    def _padded(self, sequences: Sequence[TokenSequence]) -> dict[str, torch.Tensor]:
        device, padding = device_of(self.model), self.tokenizer.pad_token_id or 0
        ids = pad([sequence.ids for sequence in sequences], padding, device)
        return {"input_ids": ids, "attention_mask": pad([[1] * len(sequence) for sequence in sequences], 0, device)}

    def check_target(self) -> None:
        if not self.model.config.is_encoder_decoder:
            raise InputError(f"{self.name} is not an encoder-decoder, so it takes no target; use pair= for a second text.")

    def shifted(self, labels: TokenSequence) -> TokenSequence:
        """The decoder's input for a target: shifted right by its start token."""
        ids = self._shift_right(labels.ids)
        word_of, special = [None, *labels.word_of[:-1]], [True, *labels.special[:-1]]
        return TokenSequence.of_pieces(self.tokenizer, ids, labels.words, word_of, special)

    def _shift_right(self, labels: list[int]) -> list[int]:
        prepare = getattr(self.model, "prepare_decoder_input_ids_from_labels", None)
        if prepare is not None:
            with suppress(AttributeError, ValueError):  # no start token in the configuration; others have one too
                return prepare(labels=torch.tensor([labels]))[0].tolist()
        config = self.model.config
        starts = (getattr(config, name, None) for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"))
        return [next((start for start in starts if start is not None), 0), *labels[:-1]]
