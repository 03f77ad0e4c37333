"""The formulas of the papers spelled out with full tensors, from the model's own hidden states. Slow, and independent."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedModel


@dataclass
class Textbook:
    """One attention of one text (no batch): weights (head, query, key) and f(x) (head, key, d_model)."""

    weights: Tensor
    transformed: Tensor

    @property
    def weight(self) -> Tensor:
        return self.weights

    @property
    def value_norm(self) -> Tensor:
        return self.transformed.norm(dim=-1)

    @property
    def weighted(self) -> Tensor:
        """alpha f(x): (head, query, key, d_model)"""
        return self.weights[..., None] * self.transformed[:, None]

    @property
    def norm(self) -> Tensor:
        return self.weighted.norm(dim=-1)

    @property
    def joint_norm(self) -> Tensor:
        return self.weighted.sum(0, keepdim=True).norm(dim=-1)

    @property
    def effective(self) -> Tensor:
        """A less its projection onto the left null space of T, by a full SVD in float64."""
        maps = []
        for weights, transformed in zip(self.weights.double(), self.transformed.double(), strict=True):
            left, singular, _ = torch.linalg.svd(transformed, full_matrices=True)
            rank = int((singular > singular[0] * max(transformed.shape) * 1e-7).sum())
            null = left[:, rank:]  # key (key - rank)
            maps.append(weights - weights @ null @ null.T)
        return torch.stack(maps).float()


def cut(matrix: Tensor, heads: int) -> Tensor:
    """(key, head * d_head) -> (head, key, d_head)"""
    return matrix.reshape(matrix.shape[0], heads, -1).transpose(0, 1)


@torch.no_grad()
def textbook(family: str, model: PreTrainedModel, ids: Tensor, target: Tensor | None = None) -> list[Textbook]:
    """Every layer (cross attention for marian) on one unpadded text, from hidden states and parameters alone."""
    model.set_attn_implementation("eager")
    inputs = {"input_ids": ids[None]} | ({} if target is None else {"decoder_input_ids": target[None]})
    output = model(**inputs, output_attentions=True, output_hidden_states=True)
    return [
        {"bert": _bert, "gpt2": _gpt2, "llama": _llama, "marian": _marian}[family](model, output, layer)
        for layer in range(len(output.attentions if family != "marian" else output.cross_attentions))
    ]


def _bert(model: PreTrainedModel, output, layer: int) -> Textbook:
    attention = model.encoder.layer[layer].attention
    x = output.hidden_states[layer][0]
    values = x @ attention.self.value.weight.T + attention.self.value.bias
    return _transform(output.attentions[layer][0], values, attention.output.dense.weight.T)


def _gpt2(model: PreTrainedModel, output, layer: int) -> Textbook:
    block = model.transformer.h[layer]
    x = block.ln_1(output.hidden_states[layer][0])
    size = x.shape[-1]
    values = (x @ block.attn.c_attn.weight + block.attn.c_attn.bias)[:, 2 * size :]
    return _transform(output.attentions[layer][0], values, block.attn.c_proj.weight)


def _llama(model: PreTrainedModel, output, layer: int) -> Textbook:
    block = model.model.layers[layer]
    x = block.input_layernorm(output.hidden_states[layer][0])
    values = x @ block.self_attn.v_proj.weight.T  # grouped: two key-value heads for four heads
    weights = output.attentions[layer][0]
    groups = model.config.num_key_value_heads
    by_head = cut(values, groups).repeat_interleave(weights.shape[0] // groups, dim=0)
    return _transform(weights, by_head.transpose(0, 1).reshape(x.shape[0], -1), block.self_attn.o_proj.weight.T)


def _marian(model: PreTrainedModel, output, layer: int) -> Textbook:
    attention = model.model.decoder.layers[layer].encoder_attn
    x = output.encoder_last_hidden_state[0]
    values = x @ attention.v_proj.weight.T + attention.v_proj.bias
    return _transform(output.cross_attentions[layer][0], values, attention.out_proj.weight.T)


def _transform(weights: Tensor, values: Tensor, projection: Tensor) -> Textbook:
    heads = weights.shape[0]
    per_head = projection.reshape(heads, -1, projection.shape[-1])  # head d_head d_model
    return Textbook(weights, cut(values, heads) @ per_head)
