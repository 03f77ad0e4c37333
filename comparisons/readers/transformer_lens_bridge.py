"""TransformerLens: TransformerBridge with hooks on the values and on the pattern of every block."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from transformer_lens.model_bridge import TransformerBridge

from comparisons.models import Model
from comparisons.readers.reader import Reader, shares, value_norms
from headscope.lens.tokens.batch import Batch


class TransformerLensBridge(Reader):
    def __init__(self, model: Model) -> None:
        # An encoder without a head is loaded by TransformerLens itself: it wants BertForMaskedLM.
        held = {} if model.family == "bert" else dict(zip(("hf_model", "tokenizer"), model.load(), strict=True))
        self.bridge: Any = TransformerBridge.boot_transformers(str(model.folder), device="cpu", **held)
        self.backbone = self.bridge.original_model.base_model
        self.outputs = [block.attn.W_O for block in self.bridge.blocks]  # head d_head d_model

    def maps(self, batch: Batch) -> tuple[Tensor, Tensor]:
        weights: list[Tensor] = []
        norms: list[Tensor] = []

        def keep(_: int, weight: Tensor, norm: Tensor) -> None:
            weights.append(weight)
            norms.append(norm)

        self._run(batch, keep)
        return torch.stack(weights), torch.stack(norms)

    def strongest(self, batch: Batch) -> Tensor:
        found = torch.zeros(2, len(self.outputs), self.outputs[0].shape[0])

        def reduce(layer: int, weight: Tensor, norm: Tensor) -> None:
            found[0, layer], found[1, layer] = shares(weight).mean(-1), shares(norm).mean(-1)

        self._run(batch, reduce)
        return found

    def _run(self, batch: Batch, receive: Callable[[int, Tensor, Tensor], None]) -> None:
        """`receive` is called in every layer with the weights and the norms, (head, query, key)."""
        lengths: dict[int, Tensor] = {}

        def values(layer: int, tensor: Tensor, hook: Any) -> None:  # text key group d_head
            lengths[layer] = value_norms(tensor[0], self.outputs[layer])

        def pattern(layer: int, tensor: Tensor, hook: Any) -> None:  # text head query key
            receive(layer, tensor[0], tensor[0] * lengths.pop(layer)[:, None])

        hooks = []
        for layer in range(len(self.outputs)):
            hooks.append((f"blocks.{layer}.attn.hook_v", partial(values, layer)))
            hooks.append((f"blocks.{layer}.attn.hook_pattern", partial(pattern, layer)))
        with torch.inference_mode():
            self.bridge.run_with_hooks(batch.inputs["input_ids"], fwd_hooks=hooks, return_type=None)
