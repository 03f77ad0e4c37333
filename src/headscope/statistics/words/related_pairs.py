"""The pairs of tokens in a batch whose words are in a dependency relation, as indices into its blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headscope.later import Tensor, torch
from headscope.lens.side import Side
from headscope.lens.tokens.batch import Batch

ATTENDING_IS_PARENT, ATTENDED_IS_PARENT = 0, 1


def related_pairs(batch: Batch, side: Side) -> Tensor:
    """(pair, 4): text, query, key, and which of the two is the parent.

    Every pair of pieces of two related words counts; pieces of one word are not related. A root has no parent.
    """
    pairs = [
        (text, *pair)
        for text, (document, words) in enumerate(zip(batch.documents, side.words, strict=True))
        for pair in pairs_of(document.parents or (), words)
    ]
    return torch.tensor(pairs, dtype=torch.long).reshape(-1, 4).to(side.device)


def pairs_of(heads: Sequence[int], words: Sequence[int | None]) -> Iterator[tuple[int, int, int]]:
    """(query, key, parent) for one text: `heads` by word (-1 for a root), `words` by token.

    >>> list(pairs_of([1, -1], [None, 0, 1]))
    [(2, 1, 0), (1, 2, 1)]
    """
    pieces: dict[int, list[int]] = {}
    for token, word in enumerate(words):
        if word is not None and word < len(heads):
            pieces.setdefault(word, []).append(token)
    for word, own in pieces.items():
        for parent in pieces.get(heads[word], ()):
            for child in own:
                yield parent, child, ATTENDING_IS_PARENT
                yield child, parent, ATTENDED_IS_PARENT
