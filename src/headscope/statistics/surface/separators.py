"""Where the separators themselves look: [SEP] -> [SEP] against other -> [SEP] (clark2019, section 3.2, figure 2)."""

from __future__ import annotations

import numpy as np

from headscope.lens.score_block import ScoreBlock
from headscope.statistics.base import Columns, Sums, ratio
from headscope.statistics.columns import SHARE, Column, share_on
from headscope.statistics.kit.key_columns import onto
from headscope.statistics.kit.key_masks import separators
from headscope.statistics.kit.row_sums import given
from headscope.statistics.kit.text_means import Averaged
from headscope.statistics.registry import statistic


@statistic("separators")
class Separators(Averaged):
    """Share on separators in all rows, in the rows of separators, and in all other rows.

    A separator is a special token that does not start its text, and is not the kind of token that does: [SEP], </s>.
    Any number of them may be there. A model that has none (most decoders) gets no numbers.
    """

    usual = False
    sums = ("separator_given", "separator_total", "others_given", "others_total")
    card_place = 50
    share = share_on("Separators", "separators")
    from_separator = Column(
        "From separators to separators, share of what they give",
        SHARE,
        "The part of what separators give that goes to separators.",
        "gives more",
    )
    from_others = Column(
        "From other tokens to separators, share of what they give",
        SHARE,
        "The part of what other tokens give that goes to separators.",
        "gives more",
    )

    def update(self, block: ScoreBlock) -> None:
        keys = block.attended.cached(separators)
        rows = block.attending.cached(separators)[:, block.rows.start : block.rows.stop]
        to_separators = onto(block.scores(self.measure), keys[:, None, None])[:, :, 0]
        totals = block.cached(given, self.measure)
        for name, mask in (("separator", rows), ("others", 1 - rows)):
            both = {"given": to_separators, "total": totals}
            self.add(block.site, **{f"{name}_{of}": (some * mask[:, None]).sum((0, 2)) for of, some in both.items()})

    def columns(self, sums: Sums) -> Columns:
        # Without separators, 0 from others would say that they are avoided.
        others = np.where(sums["separator_total"] > 0, sums["others_total"], 0)
        to_all = sums["separator_given"] + sums["others_given"]
        return {
            "share": ratio(to_all, sums["separator_total"] + others),
            "from_separator": ratio(sums["separator_given"], sums["separator_total"]),
            "from_others": ratio(sums["others_given"], others),
        }
