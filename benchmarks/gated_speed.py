"""What norms behind gates cost: attention at Qwen3-Next's shape (16 heads of 256 dimensions, 2 of keys and values)."""

from __future__ import annotations

import copy

import torch
from transformers import PreTrainedModel, Qwen3NextConfig, Qwen3NextForCausalLM

import headscope
from benchmarks.models import random_batch
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import alternate, as_ratios
from headscope import AttentionBlock
from headscope.lens.watching.projection import LOST

LENGTH, LAYERS, RANK = 128, 2, 64
PLAIN, WEIGHTS, NORMS = "plain SDPA forward", "lens: weight", "lens: weight, norm"
LOW_RANK = f"lens: weight, norm; W_O of rank {RANK} (to {LOST:g} of its largest singular value)"


def gated_speed(settings: Settings) -> list[Row]:
    """Norms behind gates: two layers at Qwen3-Next's shape (16 heads, d_h 256, no experts), one text of 128 tokens."""
    model = gated_model(settings.quick)
    plain, narrow = copy.deepcopy(model), copy.deepcopy(model)
    plain.set_attn_implementation("sdpa")
    _reduce_rank(narrow)
    batch = random_batch(model, [16 if settings.quick else LENGTH])
    with headscope.open(model) as lens, headscope.open(narrow) as of_low_rank, torch.inference_mode():
        things = {
            PLAIN: lambda: plain.model(**batch.inputs, use_cache=False),
            WEIGHTS: lambda: lens.run(batch, lambda block: block.scores("weight")),
            NORMS: lambda: lens.run(batch, _norms),
            LOW_RANK: lambda: of_low_rank.run(batch, _norms),
        }
        return as_ratios(alternate(things, settings.repeats), PLAIN, {})


def gated_model(quick: bool) -> PreTrainedModel:
    small = {"hidden_size": 64, "head_dim": 32, "intermediate_size": 64} if quick else {}
    torch.manual_seed(0)
    config = Qwen3NextConfig(
        **{"hidden_size": 2048, "head_dim": 256, "intermediate_size": 5120, "vocab_size": 1000} | small,
        num_attention_heads=16,
        num_key_value_heads=2,
        num_hidden_layers=LAYERS,
        layer_types=["full_attention"] * LAYERS,
        mlp_only_layers=list(range(LAYERS)),
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
    )
    return Qwen3NextForCausalLM(config).eval()


@torch.no_grad()
def _reduce_rank(model: PreTrainedModel) -> None:
    """A quarter of each head's dimensions reach the output, in whatever direction."""
    for layer in model.model.layers:
        attention = layer.self_attn
        by_head = attention.o_proj.weight.unflatten(1, (-1, attention.head_dim))  # d_model head d_head
        basis = torch.linalg.qr(torch.randn(attention.head_dim, attention.head_dim // 4)).Q
        attention.o_proj.weight.copy_((by_head @ basis @ basis.T).flatten(1))


def _norms(block: AttentionBlock) -> None:
    block.scores("weight")
    block.scores("norm")
