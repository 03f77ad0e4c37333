"""nnsight: a trace that takes every layer's values and weights out of the running model."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from nnsight import NNsight
from torch import Tensor

from comparisons.models import Model
from comparisons.readers.reader import Reader, shares, value_norms
from headscope.lens.tokens.batch import Batch


class NNsightTrace(Reader):
    def __init__(self, model: Model) -> None:
        loaded, _ = model.load()
        loaded.set_attn_implementation("eager")  # others do not return their weights
        self.backbone = loaded.base_model  # a language model's head is not needed, and its output is large
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # BERT has modules called output; none of them is asked for by that name
            self.traced: Any = NNsight(self.backbone)
        self.heads = loaded.config.num_attention_heads
        self.options = {} if model.family == "bert" else {"use_cache": False}
        if model.family == "bert":
            self.attentions = [layer.attention.self for layer in self.traced.encoder.layer]
            self.values = [attention.value for attention in self.attentions]
            outputs = [layer.attention.output.dense.weight for layer in self.backbone.encoder.layer]
        else:
            self.attentions = [layer.self_attn for layer in self.traced.layers]
            self.values = [attention.v_proj for attention in self.attentions]
            outputs = [layer.self_attn.o_proj.weight for layer in self.backbone.layers]
        self.outputs = [one.detach().T.reshape(self.heads, -1, one.shape[0]) for one in outputs]  # head d_head d_model

    def maps(self, batch: Batch) -> tuple[Tensor, Tensor]:
        ids, sites = batch.inputs["input_ids"], list(zip(self.values, self.attentions, self.outputs, strict=True))
        with torch.inference_mode():
            with self.traced.trace(ids, **self.options):
                weights = list().save()  # noqa: C408 - nnsight saves what is called
                norms = list().save()  # noqa: C408
                for values, attention, output in sites:
                    lengths = value_norms(values.output[0].unflatten(-1, (-1, output.shape[1])), output)
                    weight = attention.output[1][0]
                    weights.append(weight)
                    norms.append(weight * lengths[:, None])
            return torch.stack(weights), torch.stack(norms)

    def strongest(self, batch: Batch) -> Tensor:
        ids, sites = batch.inputs["input_ids"], list(zip(self.values, self.attentions, self.outputs, strict=True))
        with torch.inference_mode():
            with self.traced.trace(ids, **self.options):
                found = list().save()  # noqa: C408
                for values, attention, output in sites:
                    lengths = value_norms(values.output[0].unflatten(-1, (-1, output.shape[1])), output)
                    weight = attention.output[1][0]
                    found.append(torch.stack([shares(weight).mean(-1), shares(weight * lengths[:, None]).mean(-1)]))
            return torch.stack(list(found), 1)
