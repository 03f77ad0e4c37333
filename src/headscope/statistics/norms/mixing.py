"""How much a token's new vector takes from the other tokens, against what it keeps of itself (Kobayashi et al. 2021).

The mixing ratio of a row is ||context|| / (||context|| + ||own||): the norm of the summed context, not the sum of norms.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from headscope.errors import InputError, NormsUnavailable
from headscope.lens.block import AttentionBlock
from headscope.measures.block_norm import ALL, parts_of
from headscope.statistics.base import Array, Fields, Statistic, ratio
from headscope.statistics.kit.sampled_texts import some_texts
from headscope.statistics.registry import statistic

KINDS = ("attention", "residual", "block")


@statistic
class Mixing(Statistic):
    """Mixing ratio of context against self: of the attention alone, with its residual connection, and with layer norm.

    `mixing_attention` has alpha_ii f(x_i) as the token's own part, `mixing_residual` the residual vector as well;
    `mixing` is after the block's layer normalisation, where it has one. `context_norm` and `own_norm` are the mean norms of
    its two parts. Not a number where a model's residual connection was not found (see `headscope doctor`). It costs two
    matrix products of the model's size; with `every`, only texts whose number is a multiple of it are measured.
    """

    name = "mixing"
    usual = False
    levels = ("token",)
    fields = ("rows", *KINDS, "context_norm", "own_norm")

    def __init__(self, measure: str = "block_norm", level: str = "token", every: int = 1) -> None:
        super().__init__(measure, level)
        if measure != "block_norm":
            raise InputError(f"mixing is about an attention block's output; there is none by {measure}.")
        if every < 1:
            raise InputError(f"mixing measures every text (1), every second (2), ..., not every {every}.")
        self.every = every

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "every": self.every}

    @property
    def table_name(self) -> str:
        return self.name

    def update(self, block: AttentionBlock) -> None:
        texts = block.batch.cached(some_texts, self.every) if self.every > 1 else ALL
        if isinstance(texts, Tensor) and not len(texts):
            return
        try:
            parts = parts_of(block, texts)
        except NormsUnavailable:
            return
        around, rows = block.joining.surroundings, block.row_mask[texts]
        itself, own, context = (torch.linalg.vector_norm(part, dim=-1) for part in (parts.itself, parts.own, parts.context))
        after = own, context
        if around.outer is not None:
            scale = parts.outer_scale[..., 0]
            both = (parts.own, parts.context)
            after = tuple(torch.linalg.vector_norm(around.outer_linear(part), dim=-1) / scale for part in both)
        amounts = {
            "attention": mixing_ratios(context, itself),
            "residual": mixing_ratios(context, own),
            "block": mixing_ratios(after[1], after[0]),
            "own_norm": after[0],
            "context_norm": after[1],
        }
        for name, amount in amounts.items():
            self.add(name, block.site, (amount * rows).sum())
        self.add("rows", block.site, float(rows.sum()))

    def columns(self, fields: Fields) -> dict[str, Array]:
        named = {"mixing_attention": "attention", "mixing_residual": "residual", "mixing": "block"}
        means = {name: ratio(fields[field], fields["rows"]) for name, field in named.items()}
        return means | {name: ratio(fields[name], fields["rows"]) for name in ("context_norm", "own_norm")}


def mixing_ratios(context: Tensor, own: Tensor) -> Tensor:
    """||context|| / (||context|| + ||own||), from the two norms of each row.

    >>> mixing_ratios(torch.tensor(5.0), torch.tensor(15.0)).item()
    0.25
    """
    return context / (context + own).clamp(min=torch.finfo(own.dtype).tiny)
