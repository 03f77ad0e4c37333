"""What is annotated on a block's tokens: parts of speech, relations; a piece has what its word has."""

from __future__ import annotations

from collections.abc import Sequence

from headscope.later import Tensor, torch
from headscope.lens.side import Side
from headscope.lens.tokens.batch import Batch


def label_masks(batch: Batch, side: Side, layer: str) -> tuple[list[str], Tensor]:
    """The labels met on one side of a batch, sorted, and (batch, position, label): 1 where a token has the label.

    `layer` is a document's ("tags", "relations"), on the words of its source. Special tokens and pieces of no word have no
    label, and nothing on the side of the target has one.
    """
    texts = zip(batch.documents, side.words, strict=True)
    labels = [_of_words(getattr(document, layer) if side.name == "source" else (), words) for document, words in texts]
    names = sorted({label for text in labels for label in text if label is not None})
    number = {name: index for index, name in enumerate(names)}
    mask = torch.zeros(len(labels), side.longest, len(names))
    for text, found in enumerate(labels):
        at = [(position, number[label]) for position, label in enumerate(found) if label is not None]
        if at:
            positions, of_label = zip(*at, strict=True)
            mask[text, list(positions), list(of_label)] = 1
    return names, mask.to(side.device)


def _of_words(labels: Sequence[str], words: Sequence[int | None]) -> list[str | None]:
    """The label of each token's word; a second segment's words come after the annotated ones and have none."""
    return [None if word is None or word >= len(labels) else labels[word] for word in words]
