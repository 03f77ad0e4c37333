"""Which heads align words, told without gold links: whose two readings agree, and agree with those of other heads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headscope.errors import InputError
from headscope.later import Tensor, pd, torch
from headscope.lens import ScoreBlock, Site
from headscope.statistics.alignment.alignment_errors import aligning_sites
from headscope.statistics.alignment.sides import SETTINGS, sides_of
from headscope.statistics.alignment.two_ways import best_both_ways
from headscope.statistics.base import Array, Columns, Statistic, Sums, ratio
from headscope.statistics.columns import RATIO, Column
from headscope.statistics.kit.site_rows import SiteRows
from headscope.statistics.registry import statistic

NEAREST = 8  # how many others a candidate is compared with: those that it agrees with most


@statistic("head_agreement")
class HeadAgreement(Statistic):
    """How far every cross-attention head, in both settings, agrees with itself read the other way and with other heads.

    A head that aligns words finds the same links by the best source word of each target word and by the best target word
    of each source word, and heads that do so find the same ones. A head that looks one word beside the right one can agree
    with itself, but with fewer others: heads that align with the input word and those that align with the output word meet
    only at the right links. No gold links are needed, and nothing knows the direction of the translation.
    """

    usual = False
    levels = ("token",)
    resampled = False
    sums = ("found",)  # and `shared`, one entry for every two candidates: AWI's heads, then AWO's
    card_place = 195
    two_ways = Column("Agreement of both readings", RATIO, "How many links both readings find.", "agrees more with itself")
    consensus = Column("Agreement with other heads", RATIO, "How many links others find too.", "agrees more with others")
    score = Column("Agreement as an aligner", RATIO, "Both agreements, multiplied.", "aligns words, more likely")
    with_first = Column("Agreement with the best", RATIO, "How many links the best finds too.", "agrees more with the best")

    def counted_sites(self, sites: Sequence[Site]) -> list[Site]:
        return aligning_sites(sites)

    def begin(self) -> None:
        if not self.heads.sites:
            raise InputError(f"{self.name} needs an encoder-decoder, or a decoder and a prompt.")
        self._merged = SiteRows[Tensor]()  # setting batch head target-word column
        self._held: dict[Site, Tensor] = {}  # of the batch that is running: setting head link; no part of the state
        candidates = len(SETTINGS) * self.heads.count
        self.state = {"found": np.zeros(candidates), "shared": np.zeros((candidates, candidates))}

    def update(self, block: ScoreBlock) -> None:
        if block.site not in self.heads.sites:
            return
        sides, scores = block.batch.cached(sides_of), block.scores(self.measure)
        part = torch.stack([sides.merged(scores, setting, block.rows) for setting in SETTINGS])
        merged = self._merged.complete(block, part)
        if merged is None:
            return
        by_row, by_column = best_both_ways(merged, sides.spoken[:, None], sides.there[:, None])
        here, found = self.heads.where(block.site), (by_row.sum((1, 3, 4)) + by_column.sum((1, 3, 4))).double().cpu().numpy()
        self.state["found"].reshape(len(SETTINGS), -1)[:, here] += found
        self._held[block.site] = (by_row & by_column).transpose(1, 2).flatten(2)
        if len(self._held) == len(self.heads.sites):
            links = torch.cat([self._held[site] for site in self.heads.sites], 1).flatten(0, 1).float()  # candidate link
            self._held = {}
            self.state["shared"] += (links @ links.T).double().cpu().numpy()

    def columns(self, sums: Sums) -> Columns:
        mutual = np.diagonal(sums["shared"])
        two_ways = np.nan_to_num(ratio(2 * mutual, sums["found"]))
        together = np.nan_to_num(ratio(2 * sums["shared"], mutual[:, None] + mutual))
        consensus = mean_of_nearest(together)
        score = two_ways * consensus
        with_first = together[score.argmax()]
        return {"two_ways": two_ways, "consensus": consensus, "score": score, "with_first": with_first}

    def labels(self) -> pd.DataFrame:
        """One row a candidate: stack, kind, layer, head, setting."""
        return pd.concat([self.heads.labels().assign(setting=setting) for setting in SETTINGS], ignore_index=True)


def mean_of_nearest(together: Array, nearest: int = NEAREST) -> Array:
    """The mean agreement of each candidate with the others that it agrees with most: (candidate, candidate) -> (candidate,)

    >>> mean_of_nearest(np.array([[1, 0.5, 0.1], [0.5, 1, 0.3], [0.1, 0.3, 1]]), nearest=1).tolist()
    [0.5, 0.5, 0.3]
    """
    others = together - np.diag(np.diagonal(together))
    return np.sort(others, axis=1)[:, -min(nearest, len(others) - 1) :].mean(1)
