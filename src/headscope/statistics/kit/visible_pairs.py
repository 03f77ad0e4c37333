"""The pairs of a query and a key: neither is padding, and a decoder's query sees no later key of its own text."""

import torch
from torch import Tensor

from headscope.lens.score_block import ScoreBlock


def first_row(block: ScoreBlock) -> Tensor:
    """The first query that can see each key: (key,), int64."""
    return block.key_positions if block.is_causal else torch.zeros_like(block.key_positions)


def visible(block: ScoreBlock, rows: range | None = None) -> Tensor:
    """How many queries see each key: (batch, key), int64; 0 at padding. Of `rows`, or of the whole text."""
    lengths = block.query_lengths[:, None]
    stop = lengths if rows is None else lengths.clamp(max=rows.stop)
    start = first_row(block) if rows is None else first_row(block).clamp(min=rows.start)
    return (stop - start).clamp(min=0) * block.key_mask
