"""What a head does with the attention that it does not park on the first token or on a separator.

Heads that have nothing to do look at [CLS], [SEP] or a decoder's first token (clark2019, section 3.2; vig2019, section
5.2), most of the time. Their work shows in what is left: shares here are of the rest, and rows count by how much they leave.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Fields, Statistic, ratio
from headscope.statistics.kit.categories import USUAL, key_categories
from headscope.statistics.kit.site_rows import SiteRows
from headscope.statistics.kit.totals import received, total
from headscope.statistics.kit.visible_pairs import first_row
from headscope.statistics.registry import statistic

OFFSETS = {"two_before": -2, "previous": -1, "same": 0, "next": 1, "two_after": 2}
NOTHING = 1e-30  # a score below it counts as 0: its logarithm would be minus infinity
FIRST, SEPARATOR, PUNCTUATION, _ = range(len(USUAL))


def weighted_entropies(scores: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
    """(batch, head, row, key), (batch, key) -> (batch, head, row) each: S, the sum of a row over the keys that are kept,
    and S times the entropy of what is there, normalised to 1.

    S H = S log S - sum s log s, which needs no division and is 0 for an empty row.
    """
    positive = scores.clamp(min=NOTHING)
    column = kept[:, None, :, None].to(scores.dtype)
    sums = (positive @ column).squeeze(-1)
    informed = (positive.log().mul_(positive) @ column).squeeze(-1)
    return sums, torch.xlogy(sums, sums) - informed


@statistic
class BeyondSinks(Statistic):
    """Shares parked on the first token and on separators; of the rest, on neighbours and punctuation, and how broad it is.

    `first` and `separator` are shares of everything, `rest` is what they leave. All other columns are of the rest alone:
    the share on the same token, the one or two before and after it, on periods and commas, on the `one_token` of each text
    that gets most from all rows together (a second sink, if it is large), and `breadth`, its entropy as a part of that of
    attending alike to all other tokens in sight. The first token is a special one that starts the text,
    or in a decoder any; a separator is any other special token.
    """

    name = "beyond_sinks"
    fields = ("total", "first", "separator", "rest", *OFFSETS, "punctuation", "one_token", "entropy", "uniform")

    def __init__(self, measure: str = "weight", level: str = "token") -> None:
        super().__init__(measure, level)
        self._received = SiteRows[Tensor]()

    def update(self, block: ScoreBlock) -> None:
        categories = key_categories(block, {})
        kept = (categories > SEPARATOR) & block.key_mask  # batch key
        got = block.cached(received, self.measure)
        self.add("total", block.site, block.cached(total, self.measure))
        for name, category in (("first", FIRST), ("separator", SEPARATOR), ("punctuation", PUNCTUATION)):
            self.add(name, block.site, (got * (categories == category)[:, None]).sum((0, 2)))
        self.add("rest", block.site, (got * kept[:, None]).sum((0, 2)))
        self._add_one_token(block, got * kept[:, None])
        scores = block.scores(self.measure)
        for name, offset in OFFSETS.items():
            self.add(name, block.site, _on_diagonal(scores, kept, block.rows.start + offset))
        sums, entropies = weighted_entropies(scores, kept)
        self.add("entropy", block.site, entropies.sum((0, 2)))
        self.add("uniform", block.site, torch.einsum("bhi,bi->h", sums, _log_in_sight(block, kept)))

    def _add_one_token(self, block: ScoreBlock, got: Tensor) -> None:
        """Which token of a text gets most is known when its last rows have come. got: (batch, head, key)"""
        whole = self._received.complete(block, got)
        if whole is not None:
            self.add("one_token", block.site, whole.amax(2).sum(0))

    def columns(self, fields: Fields) -> dict[str, Array]:
        columns = {name: ratio(fields[name], fields["total"]) for name in ("first", "separator", "rest")}
        columns |= {name: ratio(fields[name], fields["rest"]) for name in (*OFFSETS, "punctuation", "one_token")}
        uniform = np.where(fields["rest"] > 0, fields["uniform"], 0)
        return columns | {"breadth": ratio(fields["entropy"], uniform)}


def _on_diagonal(scores: Tensor, kept: Tensor, offset: int) -> Tensor:
    """(head,): what rows give to the keys that are kept and stand `offset` places behind them."""
    diagonal = scores.diagonal(offset, dim1=2, dim2=3)  # batch head place
    first = max(offset, 0)
    return (diagonal * kept[:, None, first : first + diagonal.shape[-1]]).sum((0, 2))


def _log_in_sight(block: ScoreBlock, kept: Tensor) -> Tensor:
    """(batch, row): the log of how many keys that count a row can see."""
    sees = first_row(block)[None] <= block.row_positions[:, None]  # row key
    return (kept.float() @ sees.float().T).clamp(min=1).log()
