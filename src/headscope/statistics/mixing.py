"""How much a token's new vector takes from the other tokens, against what it keeps of itself (Kobayashi et al. 2021).

The mixing ratio of a row is ||context|| / (||context|| + ||own||): the norm of the summed context, not the sum of norms.
"""

from __future__ import annotations

import torch
from torch import Tensor

from headscope.errors import InputError, NormsUnavailable
from headscope.lens.block import AttentionBlock
from headscope.measures.block_norm import parts_of
from headscope.statistics.base import Array, Fields, Statistic, ratio
from headscope.statistics.registry import statistic
from headscope.statistics.totals import queries

KINDS = ("attention", "residual", "block")


@statistic
class Mixing(Statistic):
    """Mixing ratio of context against self: of the attention alone, with its residual connection, and with layer norm.

    `mixing_attention` has alpha_ii f(x_i) as the token's own part, `mixing_residual` the residual vector as well;
    `mixing` is after the block's layer normalisation, where it has one. `context_norm` and `own_norm` are the mean norms of
    its two parts. Not a number where a model's residual connection was not found (see `headscope doctor`).
    """

    name = "mixing"
    usual = False
    levels = ("token",)
    fields = ("rows", *KINDS, "context_norm", "own_norm")

    def __init__(self, measure: str = "block_norm", level: str = "token") -> None:
        super().__init__(measure, level)
        if measure != "block_norm":
            raise InputError(f"mixing is about an attention block's output; there is none by {measure}.")

    @property
    def table_name(self) -> str:
        return self.name

    def update(self, block: AttentionBlock) -> None:
        try:
            parts = parts_of(block)
        except NormsUnavailable:
            return
        around, rows = block.joining.surroundings, block.row_mask
        after = around.outer_linear(parts.context) / parts.outer_scale, around.outer_linear(parts.own) / parts.outer_scale
        pairs = {"attention": (parts.context, parts.itself), "residual": (parts.context, parts.own), "block": after}
        for kind, (context, own) in pairs.items():
            self.add(kind, block.site, (mixing_ratios(context, own) * rows).sum())
        for name, part in zip(("context_norm", "own_norm"), after, strict=True):
            self.add(name, block.site, (torch.linalg.vector_norm(part, dim=-1) * rows).sum())
        self.add("rows", block.site, queries(block))

    def columns(self, fields: Fields) -> dict[str, Array]:
        named = {"mixing_attention": "attention", "mixing_residual": "residual", "mixing": "block"}
        means = {name: ratio(fields[field], fields["rows"]) for name, field in named.items()}
        return means | {name: ratio(fields[name], fields["rows"]) for name in ("context_norm", "own_norm")}


def mixing_ratios(context: Tensor, own: Tensor) -> Tensor:
    """||context|| / (||context|| + ||own||): (..., d_model) -> (...)

    >>> mixing_ratios(torch.tensor([3.0, 4.0]), torch.tensor([0.0, 15.0])).item()
    0.25
    """
    of_context, of_own = (torch.linalg.vector_norm(part, dim=-1) for part in (context, own))
    return of_context / (of_context + of_own).clamp(min=torch.finfo(of_own.dtype).tiny)
