"""How much a token's new vector takes from the other tokens, against what it keeps of itself (Kobayashi et al. 2021).

The mixing ratio of a row is ||context|| / (||context|| + ||own||): the norm of the summed context, not the sum of norms.
"""

from __future__ import annotations

from headscope.errors import NormsUnavailable
from headscope.later import Tensor, torch
from headscope.lens.block import AttentionBlock
from headscope.measures.block_norm import ALL, parts_of
from headscope.statistics.base import Columns, Statistic, Sums, ratio
from headscope.statistics.kit.sampled_texts import some_texts
from headscope.statistics.registry import setting, statistic

KINDS = ("attention", "residual", "block")


@statistic("mixing")
class Mixing(Statistic):
    """Mixing ratio of context against self: of the attention alone, with its residual connection, and with layer norm.

    `mixing_attention` has alpha_ii f(x_i) as the token's own part, `mixing_residual` the residual vector as well;
    `mixing` is after the block's layer normalisation, where it has one. `context_norm` and `own_norm` are the mean norms of
    its two parts. Not a number where a model's residual connection was not found (see `headscope doctor`). It costs two
    matrix products of the model's size; with `every`, only texts whose number is a multiple of it are measured.
    """

    measure: str = "block_norm"
    every: int = setting(1, least=1, help="Measure one text in so many, chosen by a hash.")

    usual = False
    levels = ("token",)
    measures = ("block_norm",)
    sums = ("rows", *KINDS, "context_norm", "own_norm")

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
        self.add(block.site, rows=float(rows.sum()), **{name: (amount * rows).sum() for name, amount in amounts.items()})

    def columns(self, sums: Sums) -> Columns:
        named = {"mixing_attention": "attention", "mixing_residual": "residual", "mixing": "block"}
        return {name: ratio(sums[named.get(name, name)], sums["rows"]) for name in (*named, "context_norm", "own_norm")}


def mixing_ratios(context: Tensor, own: Tensor) -> Tensor:
    """||context|| / (||context|| + ||own||), from the two norms of each row.

    >>> mixing_ratios(torch.tensor(5.0), torch.tensor(15.0)).item()
    0.25
    """
    return context / (context + own).clamp(min=torch.finfo(own.dtype).tiny)
