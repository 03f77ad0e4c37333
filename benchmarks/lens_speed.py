"""What reading costs: the lens against the plain forward pass, at BERT-base's shape and for SmolLM2."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import torch
from transformers import PreTrainedModel

import headscope
from benchmarks.models import bert_base, random_batch, smollm2
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from benchmarks.timing import alternate, as_ratios
from headscope import AttentionBlock

BATCH, LENGTH = 16, 128
PLAIN = "plain SDPA forward"
PER_HEAD = "lens: weight, norm"
WITH_JOINT = "lens: weight, norm, joint_norm"
EAGER = "eager forward with output_attentions"
TARGETS = {PER_HEAD: Target("<=", 1.03), WITH_JOINT: Target("<=", 1.12)}


def lens_speed(settings: Settings) -> list[Row]:
    """The lens against the plain forward pass: BERT-base, 16 texts of 128 tokens."""
    return _compare([16] * 2 if settings.quick else [LENGTH] * BATCH, settings, TARGETS)


def lens_speed_padded(settings: Settings) -> list[Row]:
    """The same with padding: 16 texts of 64 to 128 tokens."""
    lengths = torch.linspace(LENGTH / 2, LENGTH, BATCH).int().tolist()
    return _compare([8, 16] if settings.quick else lengths, settings, {})


def lens_speed_smollm2(settings: Settings) -> list[Row]:
    """The lens against the plain forward pass: SmolLM2, one text of 256 and of 1,024 tokens."""
    rows = []
    for length in (8, 16) if settings.quick else (256, 1024):
        for row in _compare([length], settings, {PER_HEAD: Target("<=", 1.10)}, smollm2(settings.quick)):
            rows.append(replace(row, what=f"{length} tokens: {row.what}"))
    return rows


def _compare(
    lengths: list[int], settings: Settings, targets: dict[str, Target], model: PreTrainedModel | None = None
) -> list[Row]:
    model = model or bert_base(settings.quick)
    # A copy each: a lens switches its model's attention while it is open, and where weights lie in memory counts.
    plain, eager, watched = (copy.deepcopy(model) for _ in range(3))
    plain.set_attn_implementation("sdpa")
    eager.set_attn_implementation("eager")
    batch = random_batch(plain, lengths)
    with headscope.open(watched) as lens:
        things = {
            PLAIN: lambda: _forward(plain, batch.inputs),
            PER_HEAD: lambda: lens.run(batch, _per_head),
            WITH_JOINT: lambda: lens.run(batch, _with_joint),
            EAGER: lambda: _forward(eager, batch.inputs, output_attentions=True),
        }
        return as_ratios(alternate(things, settings.repeats), PLAIN, targets)


def _forward(model: PreTrainedModel, inputs: dict[str, torch.Tensor], **options: Any) -> None:
    with torch.inference_mode():
        model(**inputs, **({"use_cache": False} if model.config.model_type == "llama" else {}), **options)


def _per_head(block: AttentionBlock) -> None:
    block.scores("weight")
    block.scores("norm")


def _with_joint(block: AttentionBlock) -> None:
    _per_head(block)
    block.scores("joint_norm")
