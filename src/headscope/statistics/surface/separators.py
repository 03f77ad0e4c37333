"""Where the separators themselves look: [SEP] -> [SEP] against other -> [SEP] (clark2019, section 3.2, figure 2)."""

from __future__ import annotations

import numpy as np
import torch

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Array, Fields, Statistic, ratio
from headscope.statistics.kit.key_masks import separators
from headscope.statistics.kit.totals import given
from headscope.statistics.registry import statistic


@statistic
class Separators(Statistic):
    """Share on separators in all rows, in the rows of separators, and in all other rows.

    A separator is a special token that does not start its text, and is not the kind of token that does: [SEP], </s>.
    Any number of them may be there. A model that has none (most decoders) gets no numbers.
    """

    name = "separators"
    usual = False
    fields = ("separator_given", "separator_total", "others_given", "others_total")

    def update(self, block: ScoreBlock) -> None:
        keys = block.attended.cached(separators)
        rows = block.attending.cached(separators)[:, block.rows.start : block.rows.stop]
        to_separators = torch.einsum("bhik,bk->bhi", block.scores(self.measure), keys)
        totals = block.cached(given, self.measure)
        for name, mask in (("separator", rows), ("others", 1 - rows)):
            self.add(f"{name}_given", block.site, torch.einsum("bhi,bi->h", to_separators, mask))
            self.add(f"{name}_total", block.site, torch.einsum("bhi,bi->h", totals, mask))

    def columns(self, fields: Fields) -> dict[str, Array]:
        # Without separators, 0 from others would say that they are avoided.
        others = np.where(fields["separator_total"] > 0, fields["others_total"], 0)
        to_all = fields["separator_given"] + fields["others_given"]
        return {
            "share": ratio(to_all, fields["separator_total"] + others),
            "from_separator": ratio(fields["separator_given"], fields["separator_total"]),
            "from_others": ratio(fields["others_given"], others),
        }
