"""Mini-batches of sentences of similar length, with the gold heads, vectors and maps that a probe needs."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from headscope.probes.base import NO_HEAD, Sentences
from headscope.probes.maps import WordMaps
from headscope.probes.treebank import Indices, is_punctuation
from headscope.probes.vectors import Vectors
from headscope.text import Document

BATCH_BYTES = 2**26  # of a batch's maps in float32, unless one sentence has more


class Examples:
    """A treebank's sentences as a probe sees them; nothing but heads and places of vectors is in memory."""

    def __init__(self, sentences: Sequence[Document], vectors: Vectors | None = None, maps: WordMaps | None = None) -> None:
        self.lengths = np.array([len(document.words or ()) for document in sentences])
        self.heads = [torch.tensor(document.parents or []) for document in sentences]
        self.vectors, self.maps = vectors, maps
        punctuation = [is_punctuation(document) for document in sentences]
        known = [marks for marks in punctuation if marks is not None]
        self.punctuation = known if len(known) == len(punctuation) else None
        self._places = [torch.from_numpy(vectors.places(document.words or ())) for document in sentences] if vectors else []

    def collate(self, chosen: Sequence[int], needs: Sequence[str] = ("alpha", "vectors")) -> Sentences:
        """Some sentences side by side, with what is needed and there."""
        longest = int(self.lengths[chosen].max())
        lengths = torch.from_numpy(self.lengths[chosen])
        mask = torch.arange(longest) < lengths[:, None]
        vectors = alpha = None
        if self.vectors is not None and "vectors" in needs:
            vectors = self.vectors.table[_padded([self._places[index] for index in chosen], 0)] * mask[..., None]
        if self.maps is not None and "alpha" in needs:
            alpha = torch.zeros(len(chosen), longest, longest, self.maps.heads)
            for row, index in enumerate(chosen):
                length = int(self.lengths[index])
                alpha[row, :length, :length] = torch.from_numpy(self.maps[index])
        return Sentences(_padded([self.heads[index] for index in chosen], NO_HEAD), mask, vectors, alpha)

    def batches(self, chosen: Indices, words: int = 512, generator: torch.Generator | None = None) -> list[list[int]]:
        """Batches of about `words` words and similar length; with a generator, in random order and composition."""
        shuffled = chosen if generator is None else chosen[torch.randperm(len(chosen), generator=generator).numpy()]
        order = shuffled[np.argsort(self.lengths[shuffled], kind="stable")]
        numbers = self.maps.heads if self.maps is not None else 1
        batches: list[list[int]] = [[]]
        for index in order:
            length, count = int(self.lengths[index]), len(batches[-1]) + 1
            if batches[-1] and (count * length > words or 4 * numbers * count * length**2 > BATCH_BYTES):
                batches.append([])
            batches[-1].append(int(index))
        if generator is None:
            return batches
        return [batches[place] for place in torch.randperm(len(batches), generator=generator).tolist()]


def _padded(rows: Sequence[Tensor], value: int) -> Tensor:
    return torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True, padding_value=value)
