"""For what costs too much on every text: the same few texts of any batch, by a number that each has of itself."""

from __future__ import annotations

import torch
from torch import Tensor

from headscope.lens.block import AttentionBlock
from headscope.statistics.exemplars import document_number


def some_texts(block: AttentionBlock, every: int) -> Tensor:
    """The places in the batch of the texts whose number, a hash, is divisible by `every`: (text,), int64"""

    def compute() -> Tensor:
        chosen = [document_number(document) % every == 0 for document in block.batch.documents]
        return torch.tensor(chosen).nonzero()[:, 0].to(block.weights.device)

    return block.batch.once(f"one text of {every}", compute)
