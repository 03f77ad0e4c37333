"""For what costs too much on every text: the same few texts of any batch, by a number that each has of itself."""

from __future__ import annotations

from headscope.later import Tensor, torch
from headscope.lens.tokens.batch import Batch
from headscope.statistics.exemplars import document_numbers


def some_texts(batch: Batch, every: int) -> Tensor:
    """The places in the batch of the texts whose number, a hash, is divisible by `every`: (text,), int64"""
    chosen = [number % every == 0 for number in batch.cached(document_numbers)]
    return torch.tensor(chosen).nonzero()[:, 0].to(batch.device)
