"""Queries and keys spelled out from a model's hidden states and parameters, rotary positions included."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import PreTrainedModel

from tests.textbook import cut


@torch.no_grad()
def queries_and_keys(family: str, model: PreTrainedModel, inputs: dict[str, Tensor], layer: int) -> tuple[Tensor, Tensor]:
    """(head, query, d) and (group, key, d) of one layer's self attention (the encoder's, for T5), on one text."""
    output = model(**inputs, output_hidden_states=True)
    states = output.encoder_hidden_states if family == "t5" else output.hidden_states
    x = states[layer].transpose(0, 1)[:, 0] if states[layer].shape[0] == 1 else states[layer]
    return FAMILIES[family](model, x, layer)


def _bert(model: PreTrainedModel, x: Tensor, layer: int) -> tuple[Tensor, Tensor]:
    own = model.base_model.encoder.layer[layer].attention.self
    return cut(own.query(x), 4), cut(own.key(x), 4)


def _gpt2(model: PreTrainedModel, x: Tensor, layer: int) -> tuple[Tensor, Tensor]:
    block = model.transformer.h[layer]
    query, key, _ = (block.ln_1(x) @ block.attn.c_attn.weight + block.attn.c_attn.bias).chunk(3, -1)
    return cut(query, 4), cut(key, 4)


def _llama(model: PreTrainedModel, x: Tensor, layer: int) -> tuple[Tensor, Tensor]:
    block = model.model.layers[layer]
    x = block.input_layernorm(x)
    return rotated_halves(cut(block.self_attn.q_proj(x), 4)), rotated_halves(cut(block.self_attn.k_proj(x), 2))


def _falcon(model: PreTrainedModel, x: Tensor, layer: int) -> tuple[Tensor, Tensor]:
    """All heads share one key, which follows the queries in the fused projection."""
    block = model.transformer.h[layer]
    fused = cut(block.self_attention.query_key_value(block.input_layernorm(x)), 4 + 2)
    return rotated_halves(fused[:4]), rotated_halves(fused[4:5])


def _gptj(model: PreTrainedModel, x: Tensor, layer: int) -> tuple[Tensor, Tensor]:
    block = model.transformer.h[layer]
    x = block.ln_1(x)
    size = model.config.rotary_dim
    return tuple(rotated_pairs(cut(projection(x), 4), size) for projection in (block.attn.q_proj, block.attn.k_proj))


def _t5(model: PreTrainedModel, x: Tensor, layer: int) -> tuple[Tensor, Tensor]:
    first = model.encoder.block[layer].layer[0]
    x = first.layer_norm(x)
    return cut(first.SelfAttention.q(x), 4), cut(first.SelfAttention.k(x), 4)


def _bloom(model: PreTrainedModel, x: Tensor, layer: int) -> tuple[Tensor, Tensor]:
    """Each head has its query, key and value side by side."""
    block = model.transformer.h[layer]
    fused = cut(block.self_attention.query_key_value(block.input_layernorm(x)), 4 * 3)
    return fused[0::3], fused[1::3]


def _mpnet(model: PreTrainedModel, x: Tensor, layer: int) -> tuple[Tensor, Tensor]:
    own = model.mpnet.encoder.layer[layer].attention.attn
    return cut(own.q(x), 4), cut(own.k(x), 4)


def _deberta(model: PreTrainedModel, x: Tensor, layer: int) -> tuple[Tensor, Tensor]:
    """Each head has its query, key and value side by side; queries are divided by sqrt(3 d), for three terms."""
    own = model.deberta.encoder.layer[layer].attention.self
    query, key, _ = cut(own.in_proj(x), 4).chunk(3, -1)
    return (query + own.q_bias.view(4, 1, -1)) / (3 * key.shape[-1]) ** 0.5, key


def _xlnet(model: PreTrainedModel, x: Tensor, layer: int) -> tuple[Tensor, Tensor]:
    """The content term: its bias of all queries is in them."""
    own = model.transformer.layer[layer].rel_attn
    query, key = (torch.einsum("ih,hnd->nid", x, matrix) for matrix in (own.q, own.k))
    return query + own.r_w_bias[:, None], key


FAMILIES = {
    "bert": _bert,
    "gpt2": _gpt2,
    "llama": _llama,
    "gemma2": _llama,
    "falcon": _falcon,
    "gptj": _gptj,
    "t5": _t5,
    "bloom": _bloom,
    "mpnet": _mpnet,
    "deberta": _deberta,
    "xlnet": _xlnet,
}


def angles(length: int, size: int) -> Tensor:
    """(position, size / 2): position / 10000^(2 i / size)"""
    return torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, size, 2) / size)


def rotated_halves(vectors: Tensor) -> Tensor:
    """Rotary positions, where dimension i turns with dimension i + d / 2."""
    angle = angles(*vectors.shape[-2:])
    one, other = vectors.chunk(2, -1)
    return torch.cat([one * angle.cos() - other * angle.sin(), other * angle.cos() + one * angle.sin()], -1)


def rotated_pairs(vectors: Tensor, size: int) -> Tensor:
    """Rotary positions of the first `size` dimensions, where neighbours turn together."""
    angle = angles(vectors.shape[-2], size)
    one, other = vectors[..., 0:size:2], vectors[..., 1:size:2]
    turned = torch.stack([one * angle.cos() - other * angle.sin(), other * angle.cos() + one * angle.sin()], -1)
    return torch.cat([turned.flatten(-2), vectors[..., size:]], -1)
