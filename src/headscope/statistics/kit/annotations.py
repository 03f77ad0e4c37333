"""What is annotated on a block's tokens: parts of speech, relations; a piece has what its word has."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from headscope.lens.block import AttentionBlock


def label_masks(block: AttentionBlock, layer: str, side: str) -> tuple[list[str], Tensor]:
    """The labels met in a batch, sorted, and (batch, position, label): 1 where a token of that side has the label.

    `layer` is a document's ("tags", "relations"), `side` "key" or "query". Special tokens and pieces of no word have none.
    """
    labels = _labels(block, layer, side)
    names = sorted({label for text in labels for label in text if label is not None})
    number = {name: index for index, name in enumerate(names)}
    side_name = block.key_side_name if side == "key" else block.query_side_name

    def compute() -> Tensor:
        mask = torch.zeros(len(labels), max(map(len, labels)), len(names))
        for text, found in enumerate(labels):
            at = [(position, number[label]) for position, label in enumerate(found) if label is not None]
            if at:
                positions, of_label = zip(*at, strict=True)
                mask[text, list(positions), list(of_label)] = 1
        return mask.to(block.weights.device)

    return names, block.batch.once(f"{block.level} {side_name} {layer}", compute)


def _labels(block: AttentionBlock, layer: str, side: str) -> list[list[str | None]]:
    words = block.key_words if side == "key" else block.query_words
    return [
        _of_words(getattr(document, layer), of_text) for document, of_text in zip(block.batch.documents, words, strict=True)
    ]


def _of_words(labels: Sequence[str], words: Sequence[int | None]) -> list[str | None]:
    """The label of each token's word; a second segment's words come after the annotated ones and have none."""
    return [None if word is None or word >= len(labels) else labels[word] for word in words]
