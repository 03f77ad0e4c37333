"""The papers' formulas as they stand, with no tool: transformers' own maps, and every alpha f(x) as a vector.

It is what kobayashi2020's code does: alpha f(x) of all heads, queries and keys as one tensor with d_model numbers each.
"""

from __future__ import annotations

import torch
from tests.textbook import Textbook, textbook
from torch import Tensor

from comparisons.models import Model
from comparisons.readers.reader import Reader, shares
from headscope.lens.tokens.batch import Batch


class PapersFormulas(Reader):
    def __init__(self, model: Model) -> None:
        self.family = model.family
        self.model, _ = model.load()
        self.backbone = self.model.base_model

    def maps(self, batch: Batch) -> tuple[Tensor, Tensor]:
        layers = self._layers(batch)
        return torch.stack([layer.weight for layer in layers]), torch.stack([layer.norm for layer in layers])

    def strongest(self, batch: Batch) -> Tensor:
        found = [[shares(scores).mean(-1) for scores in (layer.weight, layer.norm)] for layer in self._layers(batch)]
        return torch.stack([torch.stack(layer) for layer in found], 1)

    def _layers(self, batch: Batch) -> list[Textbook]:
        return textbook(self.family, self.model, batch.inputs["input_ids"][0])
