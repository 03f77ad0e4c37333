"""Whole models by hand, with every head's z = alpha v in sight before W_O reads it. Slow, without hooks, and independent.

Embeddings, normalisations, MLPs and the single linear layers are the models' own; what attention does with them is not.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

# (stack, kind, layer, z) -> what W_O reads instead; z is (batch, row, head, d_head)
Change = Callable[[str, str, int, Tensor], Tensor]


def attend(query: Tensor, key: Tensor, value: Tensor, heads: int, mask: Tensor) -> Tensor:
    """(batch, row, features) each -> z (batch, row, head, d_head); `mask` (batch, row, key): whether a row sees a key."""
    query, key, value = (some.unflatten(-1, (-1, query.shape[-1] // heads)).transpose(1, 2) for some in (query, key, value))
    return weigh(query, key, value, mask)


def weigh(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """The same with heads apart, (batch, head, row, d_head); grouped heads share keys and values."""
    key, value = (some.repeat_interleave(query.shape[1] // some.shape[1], 1) for some in (key, value))
    scores = query @ key.mT * query.shape[-1] ** -0.5
    weights = scores.masked_fill(~mask[:, None], -1e9).softmax(-1)
    return (weights @ value).transpose(1, 2)


def everything(mask: Tensor, rows: int) -> Tensor:
    return mask.bool()[:, None].expand(-1, rows, -1)


def causal(mask: Tensor) -> Tensor:
    length = mask.shape[1]
    return everything(mask, length) & torch.ones(length, length, dtype=torch.bool).tril()


def bert(model: nn.Module, inputs: dict[str, Tensor], change: Change) -> Tensor:
    ids, mask = inputs["input_ids"], inputs["attention_mask"]
    x, heads = model.embeddings(ids), model.config.num_attention_heads
    for index, layer in enumerate(model.encoder.layer):
        own, out = layer.attention.self, layer.attention.output
        z = attend(own.query(x), own.key(x), own.value(x), heads, everything(mask, ids.shape[1]))
        x = out.LayerNorm(x + out.dense(change("encoder", "self", index, z).flatten(2)))
        x = layer.output(layer.intermediate(x), x)
    return x


def gpt2(model: nn.Module, inputs: dict[str, Tensor], change: Change) -> Tensor:
    ids, mask, body = inputs["input_ids"], inputs["attention_mask"], model.transformer
    places = (mask.cumsum(1) - 1).clamp(min=0) if "position_ids" not in inputs else inputs["position_ids"]
    x = body.wte(ids) + body.wpe(places)
    for index, layer in enumerate(body.h):
        q, k, v = layer.attn.c_attn(layer.ln_1(x)).chunk(3, -1)
        z = attend(q, k, v, model.config.n_head, causal(mask))
        x = x + layer.attn.c_proj(change("decoder", "self", index, z).flatten(2))
        x = x + layer.mlp(layer.ln_2(x))
    return model.lm_head(body.ln_f(x))


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """(batch, head, row, d) turned by its place: the first half of d pairs with the second."""
    one, other = x.chunk(2, -1)
    return x * cos[:, None] + torch.cat([-other, one], -1) * sin[:, None]


def llama(model: nn.Module, inputs: dict[str, Tensor], change: Change) -> Tensor:
    ids, mask, body = inputs["input_ids"], inputs["attention_mask"], model.model
    places = inputs.get("position_ids", torch.arange(ids.shape[1])[None])
    x, size = body.embed_tokens(ids), body.layers[0].self_attn.head_dim
    turn = body.rotary_emb(x, places)
    for index, layer in enumerate(body.layers):
        own, given = layer.self_attn, layer.input_layernorm(x)
        q, k, v = (w(given).unflatten(-1, (-1, size)).transpose(1, 2) for w in (own.q_proj, own.k_proj, own.v_proj))
        z = weigh(rotated(q, *turn), rotated(k, *turn), v, causal(mask))
        x = x + own.o_proj(change("decoder", "self", index, z).flatten(2))
        x = x + layer.mlp(layer.post_attention_layernorm(x))
    return model.lm_head(body.norm(x))


def gpt_neox(model: nn.Module, inputs: dict[str, Tensor], change: Change) -> Tensor:
    """A parallel layer: attention and MLP read the same x."""
    ids, mask, body = inputs["input_ids"], inputs["attention_mask"], model.gpt_neox
    x, heads = body.embed_in(ids), model.config.num_attention_heads
    cos, sin = body.rotary_emb(x, torch.arange(ids.shape[1])[None])
    turned = cos.shape[-1]  # a part of each head's dimensions
    for index, layer in enumerate(body.layers):
        own = layer.attention
        q, k, v = own.query_key_value(layer.input_layernorm(x)).unflatten(-1, (heads, -1)).transpose(1, 2).chunk(3, -1)
        q, k = (torch.cat([rotated(some[..., :turned], cos, sin), some[..., turned:]], -1) for some in (q, k))
        z = weigh(q, k, v, causal(mask))
        written = own.dense(change("decoder", "self", index, z).flatten(2))
        x = x + written + layer.mlp(layer.post_attention_layernorm(x))
    return model.lm_head(body.final_layer_norm(x))


def marian(model: nn.Module, inputs: dict[str, Tensor], change: Change) -> Tensor:
    body, heads = model.model, model.config.encoder_attention_heads

    def embedded(stack: nn.Module, ids: Tensor) -> Tensor:
        return stack.embed_tokens(ids) * stack.embed_scale + stack.embed_positions(ids.shape)

    def attended(own: nn.Module, x: Tensor, keys: Tensor, mask: Tensor, place: tuple[str, str, int]) -> Tensor:
        z = attend(own.q_proj(x), own.k_proj(keys), own.v_proj(keys), heads, mask)
        return own.out_proj(change(*place, z).flatten(2))

    def fed(layer: nn.Module, x: Tensor) -> Tensor:
        return layer.final_layer_norm(x + layer.fc2(layer.activation_fn(layer.fc1(x))))

    mask, seen = inputs["attention_mask"], inputs["decoder_attention_mask"]
    x = embedded(body.encoder, inputs["input_ids"])
    for index, layer in enumerate(body.encoder.layers):
        x = x + attended(layer.self_attn, x, x, everything(mask, x.shape[1]), ("encoder", "self", index))
        x = fed(layer, layer.self_attn_layer_norm(x))
    source, y = x, embedded(body.decoder, inputs["decoder_input_ids"])
    for index, layer in enumerate(body.decoder.layers):
        y = y + attended(layer.self_attn, y, y, causal(seen), ("decoder", "self", index))
        y = layer.self_attn_layer_norm(y)
        y = y + attended(layer.encoder_attn, y, source, everything(mask, y.shape[1]), ("decoder", "cross", index))
        y = fed(layer, layer.encoder_attn_layer_norm(y))
    return model.lm_head(y) + model.final_logits_bias


FORWARD = {"bert": bert, "gpt2": gpt2, "llama": llama, "gpt_neox": gpt_neox, "marian": marian}
