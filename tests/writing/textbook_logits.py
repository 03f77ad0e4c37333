"""Direct logit attribution spelled out with full (n, n, d) vectors, family by family. Slow, and independent.

Each family says how a vector that an attention adds at a layer is carried to the logits: through which norms, with the
scales that they had, and through which head. Nothing is found by following data: everything is called by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from tests.textbook import Textbook, textbook

Carry = Callable[[Tensor, int], Tensor]  # (head, query, key, d_model) at a layer -> the same, in logits of the vocabulary


@dataclass
class TextbookLogits:
    """Of one text: the model's logits (query, token), and each head's and key's part of them: (head, query, key, token)."""

    logits: Tensor
    parts: list[Tensor]


@torch.no_grad()
def textbook_logits(family: str, model: PreTrainedModel, ids: Tensor, target: Tensor | None = None) -> TextbookLogits:
    model.set_attn_implementation("eager")
    seen: dict[nn.Module, Tensor] = {}
    hooks = [
        module.register_forward_hook(lambda module, given, _: seen.__setitem__(module, given[0]))
        for module in model.modules()
        if isinstance(module, nn.LayerNorm)
        or "Norm" in type(module).__name__
        or isinstance(module, nn.GELU)
        or _is_gelu(module)
    ]
    inputs = {"input_ids": ids[None]} | ({} if target is None else {"decoder_input_ids": target[None]})
    logits = model(**inputs).logits[0]
    for hook in hooks:
        hook.remove()
    base = model.bert if family == "bert" else model
    layers: list[Textbook] = textbook(family, base, ids, target)
    carry = {"gpt2": _gpt2, "llama": _llama, "bert": _bert, "marian": _marian}[family](model, seen)
    return TextbookLogits(logits, [carry(layer.weighted, index) for index, layer in enumerate(layers)])


def _is_gelu(module: nn.Module) -> bool:
    return "GELU" in type(module).__name__


def layer_norm(norm: nn.Module, seen: dict[nn.Module, Tensor], vectors: Tensor) -> Tensor:
    """A part (head, query, key, d) of what a LayerNorm read, with the scale of the whole, and without its bias."""
    whole = seen[norm][0]
    deviation = (whole.var(-1, unbiased=False) + norm.eps).sqrt()[None, :, None, None]
    return (vectors - vectors.mean(-1, keepdim=True)) / deviation * norm.weight


def _gpt2(model: PreTrainedModel, seen: dict[nn.Module, Tensor]) -> Carry:
    return lambda vectors, _: layer_norm(model.transformer.ln_f, seen, vectors) @ model.lm_head.weight.T


def _llama(model: PreTrainedModel, seen: dict[nn.Module, Tensor]) -> Carry:
    norm = model.model.norm
    root = (seen[norm][0].square().mean(-1) + norm.variance_epsilon).sqrt()[None, :, None, None]
    return lambda vectors, _: vectors / root * norm.weight @ model.lm_head.weight.T


def _bert(model: PreTrainedModel, seen: dict[nn.Module, Tensor]) -> Carry:
    transform = model.cls.predictions.transform

    def carry(vectors: Tensor, layer: int) -> Tensor:
        for index, block in enumerate(model.bert.encoder.layer):
            if index >= layer:
                vectors = layer_norm(block.attention.output.LayerNorm, seen, vectors)
                vectors = layer_norm(block.output.LayerNorm, seen, vectors)
        vectors = vectors @ transform.dense.weight.T
        read = seen[transform.transform_act_fn][0]
        vectors = vectors * (transform.transform_act_fn(read) / read)[None, :, None]
        return layer_norm(transform.LayerNorm, seen, vectors) @ model.cls.predictions.decoder.weight.T

    return carry


def _marian(model: PreTrainedModel, seen: dict[nn.Module, Tensor]) -> Carry:
    """Of cross attention."""

    def carry(vectors: Tensor, layer: int) -> Tensor:
        for index, block in enumerate(model.model.decoder.layers):
            if index > layer:
                vectors = layer_norm(block.self_attn_layer_norm, seen, vectors)
            if index >= layer:
                vectors = layer_norm(block.encoder_attn_layer_norm, seen, vectors)
                vectors = layer_norm(block.final_layer_norm, seen, vectors)
        return vectors @ model.lm_head.weight.T

    return carry
