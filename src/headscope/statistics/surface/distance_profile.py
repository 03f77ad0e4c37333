"""How far and in which direction a head looks, distance by distance: its attention beyond sinks, place by place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headscope.later import Tensor, pd, torch
from headscope.lens import ScoreBlock, Site
from headscope.statistics.base import Columns, Statistic, Sums, ratio
from headscope.statistics.columns import SHARE, Column
from headscope.statistics.kit.categories import beyond_sinks
from headscope.statistics.pending import wide
from headscope.statistics.registry import statistic

# Places up to eight tokens away have a bin each; behind them bins double, and the last has all that is further.
UP_TO = (0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128)
FAR = len(UP_TO)  # bins on either side of the token itself


def bins_of(offsets: Tensor) -> Tensor:
    """Which bin each offset (key position less query position) is in, from the furthest before to the furthest after.

    >>> (bins_of(torch.tensor([-1000, -9, -8, -1, 0, 1, 16, 17])) - FAR).tolist()
    [-13, -9, -8, -1, 0, 1, 9, 10]
    """
    return FAR + offsets.sign() * torch.bucketize(offsets.abs(), torch.tensor(UP_TO, device=offsets.device))


def by_distance(given: Tensor, offsets: Tensor) -> Tensor:
    """(head, row, key), (row, key) -> (head, bin): sums of what is given over the pairs of each bin."""
    exact = wide(given.flatten(1))
    return exact.new_zeros(len(given), 2 * FAR + 1).index_add_(1, bins_of(offsets).flatten(), exact)


@statistic("distance_profile")
class DistanceProfile(Statistic):
    """Share of what goes beyond sinks by distance, before and after the token: one row a head and bin of distances.

    A bin is from `nearest` to `furthest` tokens away; before the token both are negative, and the bins at either end have no
    furthest. Sinks are those of `beyond_sinks`, whose `previous`, `same` and `next` are the shares at -1, 0 and 1.
    """

    usual = False
    resampled = False
    share = Column("Share beyond sinks", SHARE, "What goes so far, of all beyond sinks.", "looks there more", of_heads=False)

    def counted_sites(self, sites: Sequence[Site]) -> list[Site]:
        """Places in two texts have nothing to do with each other."""
        return [site for site in sites if site.kind == "self"]

    def begin(self) -> None:
        self.state = {"given": np.zeros((self.heads.count, 2 * FAR + 1))}

    def update(self, block: ScoreBlock) -> None:
        if block.site.kind != "self":
            return
        scores = block.scores(self.measure)
        given = torch.einsum("bhij,bj->hij", scores, beyond_sinks(block).to(scores.dtype))
        offsets = block.key_positions - block.row_positions[:, None]
        self.add(block.site, given=by_distance(given, offsets))

    def labels(self) -> pd.DataFrame:
        heads, bins = self.heads.labels(), 2 * FAR + 1
        nearest, furthest = zip(*[_ends(number - FAR) for number in range(bins)], strict=True)
        repeated = heads.loc[np.repeat(np.arange(len(heads)), bins)].reset_index(drop=True)
        ends = {"nearest": nearest, "furthest": furthest}
        return repeated.assign(**{name: pd.array(list(end) * len(heads), dtype="Int64") for name, end in ends.items()})

    def columns(self, sums: Sums) -> Columns:
        given = sums["given"]
        share = ratio(given, given.sum(-1, keepdims=True))
        return {"share": share.reshape(*share.shape[:-2], -1)}

    def table(self) -> pd.DataFrame:
        """Without what a causal attention cannot see."""
        table = super().table()
        return table[(table["stack"] != "decoder") | (table["nearest"] <= 0)].reset_index(drop=True)


def _ends(signed: int) -> tuple[int, int | None]:
    """From where to where a bin is, by its number from the token itself.

    >>> _ends(-1), _ends(9), _ends(-FAR)
    ((-1, -1), (9, 16), (-129, None))
    """
    number, sign = abs(signed), 1 if signed > 0 else -1
    nearest = UP_TO[number - 1] + 1 if number else 0
    return sign * nearest, sign * UP_TO[number] if number < FAR else None
