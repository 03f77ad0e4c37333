"""Lengths for figure 25: texts that are cut at lengths of their own, from short ones on, since nearly all are longer.

Appendix G says that effective attention is the attention in short texts. A text of more tokens than are read is as long as
that, and so are nearly all paragraphs: left as they are, they show one length, and no short one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headscope.lens.tokens.encoder import AS_WRITTEN, Encoder
from headscope.lens.tokens.encoding import Encoded
from headscope.statistics.exemplars import document_number
from headscope.text import Document

SHORTEST, COUNT = 8, 16  # tokens, and how many lengths


def up_to(tokens: int) -> tuple[int, ...]:
    """Lengths of even distance, up to what is read of a text.

    >>> up_to(128)
    (8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128)
    """
    return tuple(np.unique(np.linspace(min(SHORTEST, tokens), tokens, COUNT).round().astype(int)).tolist())


@dataclass(frozen=True)
class CutAtLengths:
    """Texts as they are written, each cut at one of some lengths, which its own number chooses: the same in any batch."""

    lengths: tuple[int, ...]

    def length_of(self, document: Document) -> int:
        return self.lengths[document_number(document) % len(self.lengths)]

    def spread(self, documents: Sequence[Document] | Iterable[Document], every: int) -> list[Document]:
        """One document in so many, as many of each length, and one at least of each that there is; all for 1."""
        if every == 1:
            return list(documents)
        of_length: defaultdict[int, list[Document]] = defaultdict(list)
        for document in documents:
            of_length[self.length_of(document)].append(document)
        total = sum(map(len, of_length.values()))
        most = -(-total // (every * len(self.lengths)))
        return [document for length in sorted(of_length) for document in of_length[length][:most]]

    def encode(self, encoder: Encoder, document: Document, max_tokens: int | None, truncate: bool) -> Encoded:
        most = min(self.length_of(document), max_tokens or self.lengths[-1])
        return AS_WRITTEN.encode(encoder, document, most, truncate=True)

    def describe(self) -> dict[str, Any]:
        return {"lengths": list(self.lengths)}
