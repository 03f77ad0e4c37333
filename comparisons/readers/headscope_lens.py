"""headscope: blocks of query rows stream out of the forward pass, with their norms."""

from __future__ import annotations

import torch
from torch import Tensor

import headscope
from comparisons.models import Model
from comparisons.readers.reader import Reader, shares
from headscope import AttentionBlock, Reading
from headscope.lens.tokens.batch import Batch


class HeadscopeLens(Reader):
    def __init__(self, model: Model) -> None:
        self.lens = headscope.open(*model.load(), name=model.name)
        self.backbone = self.lens.model.base_model

    def maps(self, batch: Batch) -> tuple[Tensor, Tensor]:
        blocks: list[AttentionBlock] = []
        self.lens.run(batch, blocks.append, rows=None)
        reading = Reading(blocks, batch)
        return reading.scores("weight"), reading.scores("norm")

    def strongest(self, batch: Batch) -> Tensor:
        rows = batch.inputs["input_ids"].shape[1]
        found = torch.zeros(2, len(self.lens.sites), self.lens.sites[0].heads)

        def add(block: AttentionBlock) -> None:
            for place, measure in enumerate(("weight", "norm")):
                found[place, block.site.layer] += shares(block.scores(measure)[0]).sum(-1) / rows

        self.lens.run(batch, add)
        return found
