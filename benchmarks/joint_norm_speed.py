"""The closed form of the joint norm against the textbook's, for one layer at BERT-base's shape."""

from __future__ import annotations

import torch
from torch import Tensor

import headscope
from benchmarks.lens_speed import BATCH, LENGTH
from benchmarks.models import bert_base, random_batch
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from benchmarks.timing import alternate, as_ratios
from headscope import AttentionBlock
from headscope.lens.block import KeySide

SAME = 1e-4  # relative; times are compared only where the numbers agree
CLOSED, TEXTBOOK = "closed form", "textbook, (head, n, n, d) for each text"


def joint_norm_speed(settings: Settings) -> list[Row]:
    """The joint norm of one layer: the closed form against the textbook's full tensor."""
    model = bert_base(settings.quick)
    batch = random_batch(model, [16] * 2 if settings.quick else [LENGTH] * BATCH)
    blocks: list[AttentionBlock] = []
    with headscope.open(model) as lens, torch.inference_mode():
        lens.run(batch, lambda block: blocks.append(block) if block.site.layer == 0 else None, rows=LENGTH)
        (block,) = blocks
        torch.testing.assert_close(_closed_form(block), _textbook(block), rtol=SAME, atol=0)
        things = {CLOSED: lambda: _closed_form(block), TEXTBOOK: lambda: _textbook(block)}
        return as_ratios(alternate(things, settings.repeats), CLOSED, {TEXTBOOK: Target(">=", 15)})


def _closed_form(block: AttentionBlock) -> Tensor:
    """Ours, with nothing left over from an earlier call."""
    seen = block.key_side
    keys = KeySide(block.site, seen.key_values, seen.keys, seen.mask, seen.projection)
    return AttentionBlock(block.site, block.rows, block.weights, block.queries, keys, block.batch).scores("joint_norm")


def _textbook(block: AttentionBlock) -> Tensor:
    """As kobayashi2020's released code goes about it, but one text at a time: 600 MB each, and not 10 GB."""
    matrices = block.key_side.projection.matrices
    return torch.stack([textbook_joint_norm(*text, matrices) for text in zip(block.weights, block.values, strict=True)])


def textbook_joint_norm(weights: Tensor, values: Tensor, matrices: Tensor) -> Tensor:
    """||sum_h alpha_h f_h(x)|| from (head, row, key) weights and (head, key, d_head) values: (1, row, key)."""
    transformed = values @ matrices  # head key d_model
    weighted = weights[..., None] * transformed[:, None]  # head row key d_model
    return torch.linalg.vector_norm(weighted.sum(0), dim=-1)[None]
